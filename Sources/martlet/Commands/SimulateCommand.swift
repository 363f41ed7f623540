import MartletHTTP
import MartletModel
import MartletServer
import MartletSimulator

/// `martlet simulate`: runs only the simulated push services.
enum SimulateCommand {
    static let command = Command(
        "simulate", "Simulate the push services until SIGTERM.",
        options: [
            Option(
                "listen", "HOST:PORT", "Where the control interface listens; the services take the ports behind.",
                default: "127.0.0.1:9443"),
            Option("ledger", "FILE", "Where to note every message that a service takes, as a line of JSON."),
            Option("ca-file", "FILE", "Where to write the authority to trust, besides its own place."),
        ] + FaultOptions().all
    ) { invocation in
        OpenFiles.allowMany()
        let simulator = try await start("listen", invocation, faults: FaultOptions(), ledger: invocation["ledger"])
        var file = try SimulatorAuthority.publish(simulator.caCertificatePEM, port: simulator.port)
        if let chosen = invocation["ca-file"] {
            try TextFile.write(simulator.caCertificatePEM, to: chosen)
            file = chosen
        }
        await Signals.runUntilTermination { [file] in
            let services = simulator.origins.map { "\($0.key.rawValue)=\($0.value)" }.sorted()
            let sockets = simulator.sockets.map { "\($0.key.rawValue)-sockets=ws://\($0.value.authority)/" }.sorted()
            let indices = (services + sockets).joined(separator: " ")
            Terminal.print("martlet: ready simulator=\(simulator.origin) \(indices) ca-file=\(file)")
            await simulator.run()
        }
    }

    /// Starts the simulator.
    /// - Parameters:
    ///   - option: The name of the option for the address to listen on. The option has a default.
    ///   - ledger: The path of the file that records accepted messages; nil for none.
    static func start(
        _ option: String, _ invocation: Invocation, faults: FaultOptions, ledger: String? = nil
    ) async throws -> Simulator {
        let address = try address(option, invocation)
        var configuration = Simulator.Configuration(acceptsAnyKey: true)
        configuration.host = address.host
        configuration.port = address.port
        configuration.faults = try faults.plan(invocation)
        configuration.ledger = ledger
        return try await Simulator.start(configuration)
    }

    /// Returns the address that an option specifies; without the option, 127.0.0.1:9443.
    /// - Throws: `UsageError` if the option's value is not a loopback address.
    static func address(_ option: String, _ invocation: Invocation) throws -> ServerConfiguration.Address {
        let address = try invocation.address(option) ?? ServerConfiguration.Address(host: "127.0.0.1", port: 9443)
        guard address.isLoopback else {
            throw UsageError(
                description: "--\(option) must be a loopback address: the simulator keeps no secrets.",
                command: invocation.command)
        }
        return address
    }
}
