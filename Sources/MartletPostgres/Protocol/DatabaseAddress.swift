import CMartletPQ
import Glibc
public import MartletCore
import MartletModel

/// The address of a database: `postgres://user@host1,host2/name`. Its `description` omits the password.
public struct DatabaseAddress: Equatable, Sendable, CustomStringConvertible {
    /// The parameters of libpq, in order.
    let parameters: [(name: String, value: String)]

    /// Creates an address from a URL.
    /// - Throws: `StorageError` with a sentence that does not repeat the URL, which may contain a password.
    public init(_ url: String) throws(StorageError) {
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://"), !url.utf8.contains(0),
            !Self.hasSlashInPassword(url)
        else {
            throw Self.malformed
        }
        guard let options = PQconninfoParse(url, nil) else { throw Self.malformed }
        defer { PQconninfoFree(options) }
        var parameters: [(name: String, value: String)] = []
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                parameters.append((String(cString: keyword), String(cString: value)))
            }
            option += 1
        }
        guard let name = parameters.first(where: { $0.name == "dbname" })?.value, !name.isEmpty else {
            throw StorageError(
                .unavailable, "The address of the database names no database: postgres://USER@HOST/NAME.")
        }
        // A part of a password that looks like a port must not be shown.
        let ports = parameters.first { $0.name == "port" }?.value.split(separator: ",") ?? []
        guard ports.allSatisfy({ UInt16($0) != nil }) else { throw Self.malformed }
        self.parameters = parameters
    }

    /// Whether the part behind the host has an @, as if a password had a slash in it. libpq would take the part before
    /// the slash for the host and its port.
    private static func hasSlashInPassword(_ url: String) -> Bool {
        let rest = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "?" }
        return rest.drop { $0 != "/" }.contains("@")
    }

    public static func == (one: DatabaseAddress, other: DatabaseAddress) -> Bool {
        one.parameters.elementsEqual(other.parameters) { $0 == $1 }
    }

    private static var malformed: StorageError {
        StorageError(
            .unavailable,
            "The address of the database is not a URL of the form postgres://USER@HOST/NAME. Characters such as @ and "
                + "/ in a user or password are written as %40 and %2F.")
    }

    public var description: String { "the database '\(value("dbname") ?? "")' on \(place)" }

    /// The hosts with their ports. A port that the address does not name is the one that libpq uses.
    private var place: String {
        let hosts = (value("host") ?? value("hostaddr") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let ports = (value("port") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let standard = getenv("PGPORT").map { String(cString: $0) } ?? "5432"
        return hosts.enumerated().map { index, host in
            let given = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            let port = given.isEmpty ? standard : String(given)
            if host.isEmpty {
                return Self.isPlaceInEnvironment ? "the default place of libpq" : "the local socket, port \(port)"
            }
            if host.hasPrefix("/") { return "\(host), port \(port)" }
            return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }.joined(separator: ",")
    }

    /// Whether the environment of the process says where libpq finds a server that the address does not name.
    private static var isPlaceInEnvironment: Bool {
        ["PGHOST", "PGHOSTADDR", "PGSERVICE"].contains { (name: String) in getenv(name) != nil }
    }

    /// The servers of the address, each as an address of its own.
    var servers: [DatabaseAddress] {
        let lists = ["host", "hostaddr", "port"].compactMap { name in
            value(name).map { (name: name, items: $0.split(separator: ",", omittingEmptySubsequences: false)) }
        }
        let count = lists.filter { $0.name != "port" }.map(\.items.count).max() ?? 1
        // libpq refuses lists that do not have the same length, and says which. A list in its environment belongs to the
        // whole address.
        guard count > 1, !isCompletedByEnvironment,
            lists.allSatisfy({ $0.items.count == count || $0.name == "port" && $0.items.count == 1 })
        else { return [self] }
        return (0..<count).map { index in
            DatabaseAddress(
                parameters: parameters.map { parameter in
                    let items = lists.first { $0.name == parameter.name }?.items ?? []
                    return items.count == count ? (parameter.name, String(items[index])) : parameter
                })
        }
    }

    private var isCompletedByEnvironment: Bool {
        func isSet(_ name: String, _ condition: (String) -> Bool = { _ in true }) -> Bool {
            getenv(name).map { condition(String(cString: $0)) } ?? false
        }
        return value("service") != nil || isSet("PGSERVICE") || value("hostaddr") == nil && isSet("PGHOSTADDR")
            || value("port") == nil && isSet("PGPORT") { $0.contains(",") }
    }

    private init(parameters: [(name: String, value: String)]) {
        self.parameters = parameters
    }

    func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Returns the parameters of the address, and the parameters that all connections of this program have. The address
    /// may override the defaults, but cannot change that only a server that accepts writes is used.
    /// - Parameter silence: The time after which a connection breaks on which the server takes no data.
    func complete(breakingAfter silence: Duration = .seconds(5)) -> [(name: String, value: String)] {
        let defaults = [
            ("application_name", "martlet"), ("tcp_user_timeout", "\(silence.wholeMilliseconds)"),
            ("keepalives_idle", "5"),
            ("keepalives_interval", "2"), ("keepalives_count", "2"),
        ].filter { value($0.0) == nil }
        let kept = parameters.filter { $0.name != "target_session_attrs" && $0.name != "client_encoding" }
        return kept + defaults.map { (name: $0.0, value: $0.1) }
            + [("target_session_attrs", "read-write"), ("client_encoding", "UTF8")]
    }
}
