import MartletCore
import MartletHTTP

/// The parts of the protocol that this server does not have yet: their callers are told so in a sentence.
enum UnservedRoutes {
    private static let patterns: [(method: HTTPMethod, pattern: String, what: String)] = [
        (.get, "/{hub}/feedbackcontainer", "the feedback container")
    ]

    static func add(to router: inout Router, time: any TimeSource) {
        for (method, pattern, what) in patterns {
            router.on(method, pattern, bodyLimit: 65_536) { request, _ in
                await request.answered(at: time) { () async throws(HubAPIError) in throw .notServedYet(what) }
            }
        }
    }
}
