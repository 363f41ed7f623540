import Foundation

/// What an operating system does for its apps: it gives the device's token at every launch, and hands on what is pushed.
/// No Linux does that, so `martlet simulate` stands for it here; in your app these lines are the system's callbacks.
///
/// curl speaks to it, since Foundation on Linux trusts no certificate authority but the system's, and the simulator has one
/// of its own: the environment variable `CURL_CA_BUNDLE` names its file.
struct SimulatedSystem {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// `https://HOST:PORT`
    let simulator: String

    /// A new device's token; for some platforms it is an address.
    func deviceToken(platform: String) async throws -> String {
        let body = try JSONEncoder().encode(["platform": platform])
        let lines = try Curl.lines(
            of: "\(simulator)/simulator/devices", ["--data", String(decoding: body, as: UTF8.self)])
        for await line in lines {
            let answer = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            guard let handle = answer["handle"] else { throw Failure(description: answer["error"] ?? line) }
            return handle
        }
        throw Failure(description: "There is no simulator at \(simulator), or it is not trusted.")
    }

    /// The bodies of what is pushed to a device. Returns once none can be missed.
    func pushes(to token: String) async throws -> AsyncStream<Data> {
        let events = try Curl.lines(
            of: "\(simulator)/simulator/device/events", ["--no-buffer", "--get", "--data-urlencode", "handle=\(token)"])
        var beginning = events.makeAsyncIterator()
        guard await beginning.next() != nil else { throw Failure(description: "The simulator tells nothing.") }
        let (pushes, found) = AsyncStream<Data>.makeStream()
        let following = Task {
            for await line in events where line.hasPrefix("data: ") {
                if let body = Self.body(of: Data(line.dropFirst(6).utf8)) { found.yield(body) }
            }
            found.finish()
        }
        found.onTermination = { _ in following.cancel() }
        return pushes
    }

    /// The member `payload` of an event; a text there is a body that is no JSON to its platform.
    private static func body(of event: Data) -> Data? {
        let event = (try? JSONSerialization.jsonObject(with: event)) as? [String: Any]
        switch event?["payload"] {
        case let text as String: return Data(text.utf8)
        case let object as [String: Any]: return try? JSONSerialization.data(withJSONObject: object)
        default: return nil
        }
    }
}
