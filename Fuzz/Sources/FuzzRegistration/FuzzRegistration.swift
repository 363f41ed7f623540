import FuzzDriver
import MartletCore
import MartletModel
import MartletPush

@testable import MartletHubAPI

/// Input: the XML document of a registration, tried on every platform. Checks that an accepted registration, written as
/// an Atom entry, is parsed to the same registration.
@main
struct FuzzRegistration {
    static func main() {
        fuzz { bytes, count in
            let input = Array(UnsafeBufferPointer(start: bytes, count: count))
            guard let document = try? RegistrationDocument(input, platforms: PushPlatforms.all),
                let platform = PushPlatforms.all[document.platform]
            else { return 0 }
            _ = try? platform.key(of: document.handle)
            guard let template = FuzzRegistration.accepted(document.template, on: platform) else { return 0 }
            let now = Timestamp(seconds: 0)
            let entry = RegistrationEntry(
                registration: Registration(
                    id: "1", platform: document.platform, handle: document.handle, tags: document.tags,
                    template: template, pushVariables: document.pushVariables, secondaryTile: document.secondaryTile,
                    version: 1, expiresAt: nil, createdAt: now, updatedAt: now),
                descriptor: platform.descriptor, url: "https://hub.example/demo/registrations/1")
            guard let again = try? RegistrationDocument(entry.document(), platforms: PushPlatforms.all) else {
                preconditionFailure("what was written cannot be read")
            }
            precondition(again.platform == document.platform && again.handle == document.handle, "the device")
            precondition(again.tags.map(\.spelling) == document.tags.map(\.spelling), "the tags")
            precondition(again.template == template, "the template")
            precondition(again.pushVariables == document.pushVariables, "the variables")
            precondition(again.secondaryTile == document.secondaryTile, "the tile")
            return 0
        }
    }

    /// Returns the template as it is stored, which is `.some(nil)` for a native registration; nil if it is refused.
    fileprivate static func accepted(_ template: Template?, on platform: any PushPlatform.Type) -> Template?? {
        guard let template else { return .some(nil) }
        return (try? platform.prepared(template)).map { .some($0) }
    }
}
