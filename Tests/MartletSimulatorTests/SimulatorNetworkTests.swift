import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletPush
import Synchronization
import Testing

@testable import MartletSimulator

/// Over real TLS and HTTP/2, with the translator and the client that the hub itself uses.
struct SimulatorNetworkTests {
    @Test func pushesReachTheirDevicesOverTLSAndHTTP2() async throws {
        try await withSimulator { run in
            let handles = try await run.devices(3)
            let outcomes = try await run.push("hello", to: handles)
            #expect(outcomes == [.accepted, .accepted, .accepted])
            for handle in handles {
                let device = try await run.control(.get, "/simulator/devices/\(handle)")
                #expect(device["inbox"]?.array?.map { $0["payload"] } == [["aps": ["alert": "hello"]]])
                #expect(device["inbox"]?.array?.first?["headers"]?["apns-topic"] == "com.example.app")
            }
        }
    }

    @Test func manyPushesWaitForTheStreamLimitToRise() async throws {
        try await withSimulator { run in
            let handles = try await run.devices(5)
            let outcomes = try await run.push("hello", to: (0..<500).map { handles[$0 % 5] })
            #expect(outcomes.count == 500)
            #expect(outcomes.allSatisfy { $0 == .accepted })
            let counters = try await run.control(.get, "/simulator/counters")
            #expect(counters["apns"]?["accepted"] == 500)
            #expect(counters["apns"]?["requests"] == 500)
        }
    }

    @Test func aDeviceIsFollowedByItsEvents() async throws {
        try await withSimulator { run in
            let handle = try await run.devices(1)[0]
            let (head, body) = try await run.client.stream(
                HTTPRequest(.get, "/simulator/devices/\(handle)/events"), to: run.simulator.origin,
                settings: run.settings, before: run.deadline)
            #expect(head.status == .ok)
            var pieces = body.makeAsyncIterator()
            var text = ""
            while !text.contains(": listening\n\n"), let piece = try await pieces.next() {
                text += String(decoding: piece, as: UTF8.self)
            }
            #expect(try await run.push("over the wire", to: [handle]) == [.accepted])
            while !text.contains("data: "), let piece = try await pieces.next() {
                text += String(decoding: piece, as: UTF8.self)
            }
            #expect(text.contains("event: notification\n"))
            #expect(text.contains(#""payload":{"aps":{"alert":"over the wire"}}"#))
        }
    }

    @Test func refusalsArriveWithTheirReasons() async throws {
        try await withSimulator { run in
            let handle = try await run.devices(1)[0]
            _ = try await run.control(.delete, "/simulator/devices/\(handle)")
            let head = String(repeating: "a", count: 56)
            let outcomes = try await run.push(
                "x", to: [handle, head + "dead0400", head + "dead0503", head + "aaaaaaaa"])
            #expect(
                outcomes.map(\.reason) == ["Unregistered", "BadDeviceToken", "ServiceUnavailable", "BadDeviceToken"])
        }
    }

    @Test func aStrangersKeyIsRefusedWhereKeysAreRegistered() async throws {
        try await withSimulator(acceptsAnyKey: false) { run in
            let handle = try await run.devices(1)[0]
            #expect(try await run.push("x", to: [handle]).map(\.reason) == ["InvalidProviderToken"])
            let status = try await run.status(
                .post, "/simulator/apps",
                [
                    "platform": "apns", "bundleId": "com.example.app", "teamId": "DEF123GHIJ",
                    "keyId": "ABC123DEFG", "publicKey": .string(try run.key.publicKey.pem()),
                ])
            #expect(status == 204)
            #expect(try await run.push("x", to: [handle]) == [.accepted])
        }
    }

    @Test func theServiceSpeaksOnlyHTTP2() async throws {
        try await withSimulator { run in
            var settings = run.settings
            settings.version = .http1
            let response = try await run.client.send(
                HTTPRequest(.post, "/3/device/ab"), to: run.apns, settings: settings, before: run.deadline)
            #expect(response.status.code == 505)
        }
    }

    @Test func aSenderThatDoesNotKnowTheAuthorityIsNotServed() async throws {
        try await withSimulator { run in
            let error = await #expect(throws: TransportError.self) {
                _ = try await run.client.send(
                    HTTPRequest(.get, "/simulator/counters"), to: run.simulator.origin, before: run.deadline)
            }
            #expect(error?.kind == .insecure)
        }
    }

    @Test func aCutConnectionIsAFailureAndNotAnAnswer() async throws {
        try await withSimulator { run in
            let token = String(repeating: "a", count: 56) + "deadc105"
            let outcomes = try await run.push("x", to: [token])
            #expect(outcomes.map(\.name) == [.pnsUnreachable])
        }
    }

    @Test func aCertificateTakesThePlaceOfTheToken() async throws {
        try await withSimulator { run in
            let handle = try await run.devices(1)[0]
            let now = Int(Simulator.timeOfDay().seconds)
            let identity = try CertificateAuthority.generate(commonName: "Push CA", now: now)
                .issue(CertificateRequest(commonName: "Push", userID: "com.example.app"), now: now)
            let pem = try identity.certificatePEM() + identity.privateKeyPEM()
            #expect(try await run.push("x", to: [handle], with: ["ApnsCertificate": pem]) == [.accepted])
        }
    }

    @Test func aCertificateOfTheOtherEnvironmentIsSentAway() async throws {
        try await withSimulator { run in
            let handle = try await run.devices(1)[0]
            let now = Int(Simulator.timeOfDay().seconds)
            let request = CertificateRequest(
                commonName: "Push", userID: "com.example.app",
                extensions: ["1.2.840.113635.100.6.3.2": [0x05, 0x00]])
            let identity = try CertificateAuthority.generate(commonName: "Push CA", now: now).issue(request, now: now)
            let pem = try identity.certificatePEM() + identity.privateKeyPEM()
            let outcomes = try await run.push("x", to: [handle], with: ["ApnsCertificate": pem])
            #expect(outcomes.map(\.name) == [.pnsUnreachable])
            let counters = try await run.control(.get, "/simulator/counters")
            #expect(counters["apns"]?["accepted"] == nil)
        }
    }
}
