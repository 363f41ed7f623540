import MartletHTTP

@testable import MartletNetwork

/// Holds requests until the test answers them, or answers each at once.
final class MemoryDispatch: RequestDispatch {
    final class Running: RunningRequest {
        let request: HTTPRequest
        let stream: any ResponseStream
        let body: RequestBody?
        private(set) var isCancelled = false
        private(set) var rooms = 0

        init(_ request: HTTPRequest, _ body: RequestBody?, _ stream: any ResponseStream) {
            self.request = request
            self.body = body
            self.stream = stream
        }

        func roomAppeared() { rooms += 1 }
        func cancel() { isCancelled = true }
    }

    var limit = 1024
    var streams = false
    var ignores = false
    var account = HTTPBodyAccount.address
    var answer: ((HTTPRequest) -> HTTPResponse)?
    private(set) var running: [Running] = []

    func route(for head: HTTPRequest) -> HTTPRoute {
        guard !ignores else { return HTTPRoute(refusing: HTTPResponse(.unauthorized)) }
        return HTTPRoute(bodyLimit: limit, streamsBody: streams, account: account) { _ in HTTPResponse(.notFound) }
    }

    func start(
        _ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?, answerTo stream: any ResponseStream
    ) -> any RunningRequest {
        let run = Running(request, body, stream)
        running.append(run)
        if let answer { stream.send(answer(request)) }
        return run
    }
}

extension WireProtocol {
    func receive(_ text: String) {
        Array(text.utf8).withUnsafeBytes { receive($0) }
    }

    /// Everything that is ready to be sent.
    func writtenText() -> String {
        var all: [UInt8] = []
        while true {
            var piece: [UInt8] = []
            write(into: &piece, limit: 1000)
            if piece.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += piece
        }
    }
}

/// Random numbers that are the same in every run.
private struct PieceGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension String {
    /// The text whole, byte by byte, and in random pieces of some seeds.
    var pieces: [[String]] {
        let bytes = Array(utf8)
        var ways = [[self], bytes.map { String(decoding: [$0], as: UTF8.self) }]
        for seed in 1...4 {
            var generator = PieceGenerator(state: UInt64(seed))
            var rest = bytes[...]
            var way: [String] = []
            while !rest.isEmpty {
                let count = min(rest.count, Int.random(in: 1...20, using: &generator))
                way.append(String(decoding: rest.prefix(count), as: UTF8.self))
                rest = rest.dropFirst(count)
            }
            ways.append(way)
        }
        return ways
    }
}
