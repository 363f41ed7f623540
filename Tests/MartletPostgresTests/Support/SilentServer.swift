import Foundation
import Glibc
import Testing

/// A server that lets clients connect and says nothing, as one does whose processes hang.
final class SilentServer {
    /// The directory of its socket, which has the name of a PostgreSQL server's.
    let directory: String
    private let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/silent-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(directory)/.s.PGSQL.5432".utf8) }
        let isBound = withUnsafeBytes(of: address) {
            bind(listener, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) == 0
        }
        try #require(isBound && listen(listener, 16) == 0)
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(listener)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// How many clients have connected since this was last asked.
    var callers: Int {
        var count = 0
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return count }
            close(client)
            count += 1
        }
    }
}
