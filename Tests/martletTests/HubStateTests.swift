import MartletModel
import Testing

@testable import martlet

struct HubStateTests {
    private func state(_ hub: String) throws -> HubState {
        func json(_ text: String) throws -> JSON { try JSON(parsing: Array(text.utf8)) }
        return HubState(
            hub: try json(hub), audience: try json(#"{"registrations":39950,"devices":1}"#),
            limits: try json(#"{"unfinished":{"notifications":1,"bytes":2048}}"#))
    }

    @Test func theStateOfAHubHasNoKeys() throws {
        let state = try state(
            #"""
            {"name":"demo","createdAt":"2026-01-01T00:00:00Z","credentials":["apns","wns"],
             "credentialExpiries":{"apns":"2027-01-01T00:00:00Z","wns":null},"connectionStrings":{"x":"secret"}}
            """#)
        #expect(
            state.lines == [
                "created: 2026-01-01T00:00:00Z", "registrations: 39,950, of 1 device",
                "unfinished: 1 notification, 2,048 bytes", "credentials: apns until 2027-01-01T00:00:00Z, wns",
            ])
        #expect(state.json["credentials"]?.array?.first?["expiresAt"]?.string == "2027-01-01T00:00:00Z")
        #expect(!String(decoding: state.json.bytes, as: UTF8.self).contains("secret"))
    }

    @Test func aHubWithoutCredentialsHasNone() throws {
        #expect(try state(#"{"name":"demo","createdAt":"x","credentials":[]}"#).lines.last == "credentials: none")
    }
}
