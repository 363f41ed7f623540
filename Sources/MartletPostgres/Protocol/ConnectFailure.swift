import MartletCore

/// The meaning of a failed attempt to connect, and what to do about it.
///
/// libpq has no codes for these failures, so its message is searched for known texts. If the server speaks another
/// language, the error says only that the server refused the connection, and that the server's log has the reason.
enum ConnectFailure: Equatable {
    case noAddress, refused, unreachable, wrongPassword, noUser, noDatabase, noEntry, tooManyConnections, readOnly
    case starting, noTLS, noPort, other

    init(_ message: String) {
        let rules: [(String, ConnectFailure)] = [
            ("could not translate host name", .noAddress), ("invalid port number", .noPort),
            ("connection option \"port\"", .noPort),
            ("password authentication failed", .wrongPassword), ("no password supplied", .wrongPassword),
            ("authentication failed", .wrongPassword), ("no pg_hba.conf entry", .noEntry),
            ("too many clients already", .tooManyConnections), ("remaining connection slots", .tooManyConnections),
            ("too many connections for", .tooManyConnections), ("session is read-only", .readOnly),
            ("server is in hot standby mode", .readOnly), ("is starting up", .starting),
            ("is shutting down", .starting), ("in recovery mode", .starting), ("not yet accepting", .starting),
            ("SSL", .noTLS), ("certificate", .noTLS), ("Connection refused", .refused),
            ("No such file or directory", .refused), ("timeout expired", .unreachable), ("timed out", .unreachable),
            ("No route to host", .unreachable), ("Network is unreachable", .unreachable),
        ]
        if message.contains("does not exist") {
            self = message.contains("database \"") ? .noDatabase : message.contains("role \"") ? .noUser : .other
        } else {
            self = rules.first { message.contains($0.0) }?.1 ?? .other
        }
    }

    /// - Parameter messages: The message for each server of an address. That one of them is a standby is no reason, unless
    ///   all are.
    init(ofServers messages: [String]) {
        let others = messages.filter { ConnectFailure($0) != .readOnly }
        self.init((others.isEmpty ? messages : others).joined(separator: "\n"))
    }

    func sentence(for address: DatabaseAddress) -> String {
        let user = address.value("user") ?? "of this process"
        return switch self {
        case .noAddress: "The name of the host of \(address) is not known. Correct the host in the address."
        case .refused:
            "Nobody listens at \(address). Start PostgreSQL, or correct host and port in the address."
        case .unreachable: "\(capitalized(address)) does not answer. Check the network, the firewall and the address."
        case .wrongPassword:
            "The user \(user) cannot sign in to \(address): the password is missing or wrong. Correct it in the "
                + "address or in PGPASSWORD or PGPASSFILE."
        case .noUser:
            "There is no user \(user) for \(address). Make one with createuser, or correct the user in the address."
        case .noDatabase:
            "There is no such database: \(address). Make it with createdb --template template0 --encoding UTF8 "
                + "--locale C, or correct the name in the address."
        case .noEntry:
            "\(capitalized(address)) does not accept the user \(user) from this machine. Add a line to its "
                + "pg_hba.conf, and reload it."
        case .tooManyConnections:
            "\(capitalized(address)) has no connection left. Raise max_connections: a node needs six of them."
        case .readOnly:
            "\(capitalized(address)) is a standby, which takes no writes. Name the primary in the address, or all "
                + "hosts separated by commas."
        case .starting: "\(capitalized(address)) is starting or shutting down. It is tried again."
        case .noTLS:
            "TLS with \(address) failed. Check sslmode and sslrootcert in the address, and the server's certificate."
        case .noPort:
            "There is no such port: \(address). Correct the port in the address: it is a number from 1 to 65535."
        case .other: "\(capitalized(address)) refused the connection. Its own log says why."
        }
    }

    private func capitalized(_ address: DatabaseAddress) -> String {
        let text = address.description
        return text.prefix(1).uppercased() + text.dropFirst()
    }
}
