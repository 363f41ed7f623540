import MartletServer
import MartletSimulator

/// `martlet simulate`: the push services alone.
enum SimulateCommand {
    static let command = Command(
        "simulate", "Simulate the push services until SIGTERM.",
        options: [
            Option("listen", "HOST:PORT", "Where the simulator listens.", default: "127.0.0.1:9443"),
            Option("ca-file", "FILE", "Where to write the authority to trust, besides its own place."),
        ]
    ) { invocation in
        let simulator = try await start(invocation["listen"])
        var file = try SimulatorAuthority.publish(simulator.caCertificatePEM, port: simulator.port)
        if let chosen = invocation["ca-file"] {
            try TextFile.write(simulator.caCertificatePEM, to: chosen)
            file = chosen
        }
        Terminal.print("martlet: ready simulator=\(simulator.origin) ca-file=\(file)")
        await Signals.runUntilTermination { await simulator.run() }
    }

    static func start(_ listen: String?) async throws -> Simulator {
        guard let address = listen.flatMap(ServerConfiguration.Address.init) else {
            throw UsageError(description: "the simulator listens on HOST:PORT.")
        }
        guard address.isLoopback else {
            throw ServerError("The simulator knows no secrets and keeps none: it listens on loopback addresses only.")
        }
        var configuration = Simulator.Configuration(acceptsAnyKey: true)
        configuration.host = address.host
        configuration.port = address.port
        return try await Simulator.start(configuration)
    }
}
