import MartletCrypto
import MartletModel

/// The real browsers that have connected, by id and by connection.
struct SimulatedBrowsers {
    /// The maximum number of browsers.
    ///
    /// If the maximum is reached, the oldest browser that is not connected is removed before a new browser is added. If
    /// all browsers are connected, none is removed, and the number exceeds the maximum.
    private static let limit = 1000

    private var browsers: [String: SimulatedBrowser] = [:]
    private var ids: [UInt64: String] = [:]
    private var count = 0

    /// All browsers, oldest first.
    var all: [SimulatedBrowser] { browsers.values.sorted { $0.index < $1.index } }

    subscript(id: String) -> SimulatedBrowser? { browsers[id] }

    func id(on socket: UInt64) -> String? { ids[socket] }

    /// Records that a browser has connected.
    /// - Parameter id: The id that was assigned to the browser earlier. If the id is nil or unknown, the browser gets a
    ///   new id.
    /// - Returns: The id, and the browser's previous connection if it is still open.
    mutating func connect(_ id: String?, on socket: UInt64) -> (id: String, last: UInt64?) {
        let known = id.flatMap { browsers[$0] }
        let browser = known ?? add()
        let last = browser.socket
        if let last { ids[last] = nil }
        browsers[browser.id]?.socket = socket
        ids[socket] = browser.id
        return (browser.id, last)
    }

    /// Records that a connection was closed.
    /// - Returns: The id of the browser that used the connection; nil if no browser used it, or if the browser has
    ///   connected again on another connection.
    mutating func disconnect(_ socket: UInt64) -> String? {
        guard let id = ids.removeValue(forKey: socket) else { return nil }
        browsers[id]?.socket = nil
        return id
    }

    /// Calls a closure that may change a browser, and returns its result; nil if the browser is unknown.
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
