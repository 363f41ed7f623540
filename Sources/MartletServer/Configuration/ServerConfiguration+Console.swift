import MartletConsole
import MartletHTTP

extension ServerConfiguration {
    /// The listener on which the web console is served.
    public enum ConsoleListener: Hashable, Sendable {
        /// The public listeners serve the console too.
        case shared
        case none
        /// The console has a listener of its own at this address.
        ///
        /// The listener uses HTTPS with the server's certificate, except at a loopback address.
        case own(Address)
    }

    /// Checks that the console sends no passwords in clear text to other machines, and that `consoleFiles` is used only
    /// with loopback addresses.
    func validateConsole() throws(ServerError) {
        if case .own(let address) = console, !address.isLoopback, tls == nil {
            throw ServerError(
                "--console \(address) would send passwords in clear text to other machines: give it a certificate "
                    + "(--tls-listen), or a loopback address.")
        }
        guard consoleFiles != nil else { return }
        let addresses = [listen, tlsListen, console.address].compactMap(\.self)
        guard addresses.allSatisfy(\.isLoopback), listenSocket == nil else {
            throw ServerError("--console-files is for work on the console: every address must be a loopback address.")
        }
    }

    /// The settings of the web console. They include the host names under which browsers may address this server.
    var consoleSettings: ConsoleSettings {
        var hosts: Set<String> = []
        if let name = HostName.current { hosts.insert(name.lowercased()) }
        for address in [listen, tlsListen, console.address].compactMap(\.self) {
            hosts.insert(address.host.lowercased())
        }
        for domain in acme?.domains ?? [] { hosts.insert(domain.lowercased()) }
        return ConsoleSettings(publicURL: publicURL, hosts: hosts, version: version, files: consoleFiles)
    }
}

extension ServerConfiguration.ConsoleListener {
    /// The address of the console's own listener; nil if the console has no listener of its own.
    var address: ServerConfiguration.Address? {
        guard case .own(let address) = self else { return nil }
        return address
    }
}
