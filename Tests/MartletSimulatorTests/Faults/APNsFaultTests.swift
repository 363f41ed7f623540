import MartletCore
import MartletHTTP
import MartletModel
import MartletPush
import Testing

@testable import MartletSimulator

/// Faults of a real service, met by the translator and the client that the hub itself uses.
struct APNsFaultTests {
    private func reasons(_ fault: JSON, pushes: Int = 1) async throws -> [String] {
        var reasons: [String] = []
        try await withSimulator { run in
            let handles = try await run.devices(pushes)
            #expect(try await run.status(.post, "/simulator/faults", fault) == 201)
            reasons = try await run.push("x", to: handles).map { $0 == .accepted ? "accepted" : $0.reason }
        }
        return reasons
    }

    @Test(arguments: [
        "BadCollapseId", "BadDeviceToken", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
        "DeviceTokenNotForTopic", "ExpiredProviderToken", "ExpiredToken", "Forbidden", "IdleTimeout",
        "InternalServerError", "InvalidProviderToken", "PayloadTooLarge", "ServiceUnavailable", "Shutdown",
        "TooManyProviderTokenUpdates", "TooManyRequests", "TopicDisallowed", "UnrelatedKeyIdInToken", "Unregistered",
    ])
    func everyReasonReachesTheSender(reason: String) async throws {
        #expect(try await reasons(["fault": .string(reason)]) == [reason])
    }

    @Test func aClockThatIsWrongLooksLikeAWrongToken() async throws {
        #expect(try await reasons(["fault": "clockSkew", "offset": 7200]) == ["ExpiredProviderToken"])
        #expect(try await reasons(["fault": "clockSkew", "offset": -600]) == ["InvalidProviderToken"])
    }

    @Test func oneDeviceCanBeThrottledAlone() async throws {
        try await withSimulator { run in
            let handles = try await run.devices(3)
            let fault: JSON = ["fault": "deviceRateLimit", "handle": .string(handles[1])]
            #expect(try await run.status(.post, "/simulator/faults", fault) == 201)
            let outcomes = try await run.push("x", to: handles)
            #expect(outcomes.map { $0 == .accepted } == [true, false, true])
            #expect(outcomes[1].reason == "TooManyRequests")
        }
    }

    @Test(
        arguments: [
            ["fault": "goAway", "skip": 100, "next": 1],
            ["fault": "goAway", "before": 5, "skip": 100, "next": 1],
            ["fault": "goAway", "then": "stay", "skip": 100, "next": 1], ["fault": "resetStream", "every": 50],
            ["fault": "streamLimit", "limits": [1, 1000, 1, 0, 1000], "interval": 10, "skip": 50, "next": 1],
        ] as [JSON])
    func aBatchComesThroughWhole(fault: JSON) async throws {
        try await withSimulator { run in
            let handles = try await run.devices(5)
            #expect(try await run.status(.post, "/simulator/faults", fault) == 201)
            let outcomes = try await run.push("hello", to: (0..<400).map { handles[$0 % 5] })
            #expect(outcomes.count == 400)
            #expect(outcomes.allSatisfy { $0 == .accepted })
            let counters = try await run.control(.get, "/simulator/counters")
            #expect(counters["apns"]?["accepted"] == 400)
        }
    }
}
