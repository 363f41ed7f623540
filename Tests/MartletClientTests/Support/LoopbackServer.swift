import Foundation
import Synchronization

/// A web server of a few lines on this machine: reads one request per connection and answers what it is told to.
final class LoopbackServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let heard = Mutex<[String]>([])

    /// - Parameter answer: Gets the request's text, gives the whole response; nil closes the connection.
    init(answer: @escaping @Sendable (String) -> String?) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (listener, length)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(descriptor, generic, size) == 0, listen(descriptor, 8) == 0,
                    getsockname(descriptor, generic, &length) == 0
                else { return nil }
                return pointer.pointee.sin_port.bigEndian
            }
        }
        guard let port else { throw CocoaError(.fileNoSuchFile) }
        self.port = port
        Thread.detachNewThread { self.serve(answer) }
    }

    var requests: [String] { heard.withLock { $0 } }

    /// Ends the thread: its `accept` fails.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Closes the listener itself: its number may be another server's as soon as it is closed, and this thread would answer
    /// in that one's place.
    private func serve(_ answer: (String) -> String?) {
        defer { close(listener) }
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            let request = read(connection)
            heard.withLock { $0.append(request) }
            if let response = answer(request) {
                let bytes = Array(response.utf8)
                var sent = 0
                while sent < bytes.count {
                    let count = bytes.withUnsafeBytes {
                        send(connection, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { break }
                    sent += count
                }
            }
            close(connection)
        }
    }

    private static func length(of bytes: [UInt8]) -> Int? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let body = text[..<end.lowerBound].lowercased().split(separator: "\r\n")
            .first { $0.hasPrefix("content-length:") }.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
        return text[..<end.upperBound].utf8.count + (body ?? 0)
    }

    private func read(_ connection: Int32) -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        /// How long head and body are; nil until the head is there.
        var length: Int?
        while length.map({ bytes.count < $0 }) ?? true {
            let count = recv(connection, &piece, piece.count, 0)
            guard count > 0 else { break }
            bytes += piece.prefix(count)
            if length == nil { length = Self.length(of: bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
