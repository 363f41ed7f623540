import MartletCrypto
import MartletModel

/// The real browsers that were ever connected, by their ids and by their connections.
struct SimulatedBrowsers {
    /// Above it, the browser that is away for the longest is forgotten.
    private static let limit = 1000

    private var browsers: [String: SimulatedBrowser] = [:]
    private var ids: [UInt64: String] = [:]
    private var count = 0

    /// Oldest first.
    var all: [SimulatedBrowser] { browsers.values.sorted { $0.index < $1.index } }

    subscript(id: String) -> SimulatedBrowser? { browsers[id] }

    func id(on socket: UInt64) -> String? { ids[socket] }

    /// A browser says hello.
    /// - Parameter id: As it was given before; a new one is given where it is not known.
    /// - Returns: The id, and the connection that the browser had until now.
    mutating func connect(_ id: String?, on socket: UInt64) -> (id: String, last: UInt64?) {
        let known = id.flatMap { browsers[$0] }
        let browser = known ?? add()
        let last = browser.socket
        if let last { ids[last] = nil }
        browsers[browser.id]?.socket = socket
        ids[socket] = browser.id
        return (browser.id, last)
    }

    /// - Returns: The id of the browser that was there.
    mutating func disconnect(_ socket: UInt64) -> String? {
        guard let id = ids.removeValue(forKey: socket) else { return nil }
        browsers[id]?.socket = nil
        return id
    }

    /// Lends a browser; nil where it is not known.
    mutating func with<Result>(_ id: String, _ body: (inout SimulatedBrowser) -> Result) -> Result? {
        guard var browser = browsers.removeValue(forKey: id) else { return nil }
        defer { browsers[id] = browser }
        return body(&browser)
    }

    private mutating func add() -> SimulatedBrowser {
        if browsers.count >= Self.limit, let oldest = all.first(where: { $0.socket == nil }) {
            browsers[oldest.id] = nil
        }
        let browser = SimulatedBrowser(id: Base64URL.encode(RandomBytes.generate(16)), index: count)
        count += 1
        browsers[browser.id] = browser
        return browser
    }
}
