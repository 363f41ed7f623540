import FuzzDriver
import MartletCore
import MartletModel

@testable import MartletHubAPI

/// Input: the XML description of a hub. Checks that a parsed description, written and parsed again, changes nothing.
@main
struct FuzzHub {
    static func main() {
        fuzz { bytes, count in
            let platforms = PushPlatformList([Rook.self])
            let body = Array(UnsafeBufferPointer(start: bytes, count: count))
            guard let document = try? HubDocument(body, platforms: platforms) else { return 0 }
            let now = Timestamp(seconds: 0)
            var settings = HubSettings()
            document.apply(to: &settings, at: now)
            // A hub with more access rules is refused before it is stored.
            guard settings.accessRules.count <= HubSettings.accessRuleLimit else { return 0 }
            let hub = Hub(
                id: Hub.ID(rawValue: 1), name: "demo", settings: settings, createdAt: now, modifiedAt: now)
            let entry = HubEntry(hub: hub, platforms: platforms, url: "https://hub.example/demo", namespace: "hub")
            guard let again = try? HubDocument(entry.document(), platforms: platforms) else {
                preconditionFailure("what was written is not read")
            }
            again.apply(to: &settings, at: now)
            precondition(settings == hub.settings, "what is written back changes nothing")
            return 0
        }
    }
}

/// A platform whose credential has a property of each kind.
private enum Rook: PushPlatform {
    static var descriptor: PushPlatformDescriptor {
        PushPlatformDescriptor(
            platform: PlatformID(rawValue: "rook"), format: "rook",
            registration: .init(element: "Rook", handleElements: ["Nest"]),
            credential: .init(
                element: "RookCredential",
                fields: [
                    .init(name: "Endpoint", flag: "", help: "", impliedValue: "https://rook.example"),
                    .init(name: "Call", flag: "", help: "", isSecret: true),
                    .init(name: "Colour", flag: "", help: ""),
                    .init(name: "Ring", flag: "", help: "", isExtension: true),
                ]),
            outcomeCounts: .init(element: "RookOutcomeCounts"), fieldPrefixes: [], payloadLimit: 1)
    }

    static func key(of handle: PushHandle) throws(PushServiceError) -> String { handle.text }
    static func check(_ message: Message) throws(PushServiceError) {}
    static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        Message(body: Array(text.utf8))
    }

    static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        Message(body: Array(data.texts.map(\.value).joined(separator: "\n").utf8))
    }
}
