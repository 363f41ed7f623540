import MartletCore
import MartletModel
import Testing

@testable import MartletPush

/// What holds for every platform of this build.
struct PlatformTests {
    @Test func everyPlatformIsFoundByTheWordsThatClientsUse() {
        let words = ["apns", "gcm", "fcmv1", "wns", "mpns", "adm", "browser", "baidu", "xiaomi"]
        #expect(Set(descriptors().map { $0.platform.rawValue }) == Set(words))
        let formats = [
            "apple": "apns", "gcm": "gcm", "fcm": "gcm", "fcmV1": "fcmv1", "windows": "wns", "windowsphone": "mpns",
            "adm": "adm", "browser": "browser", "baidu": "baidu", "xiaomi": "xiaomi",
        ]
        for (format, platform) in formats {
            #expect(PushPlatforms.all.format(format)?.descriptor.platform.rawValue == platform)
        }
        #expect(PushPlatforms.all.named("FCM")?.descriptor.platform.rawValue == "gcm")
        #expect(PushPlatforms.all.format("nokiax") == nil)
    }

    @Test func noTwoPlatformsShareAWordOrAnElementOfTheWire() {
        let all = descriptors()
        for words in [
            all.map { $0.registration.element }, all.map { $0.credential.element },
            all.map { $0.outcomeCounts.element },
            all.flatMap { [$0.format] + $0.formatAliases }, all.flatMap { [$0.platform.rawValue] + $0.aliases },
        ] { #expect(Set(words).count == words.count) }
    }

    @Test("Trap 18: outcome counts stand in the order of NotificationHubs.md, section 8.1")
    func outcomeCountsStandInOrder() {
        let ordered = descriptors().sorted { $0.outcomeCounts.index < $1.outcomeCounts.index }
        #expect(
            ordered.map { $0.outcomeCounts.element.replacing("OutcomeCounts", with: "") } == [
                "Apns", "Mpns", "Wns", "Gcm", "Adm", "FcmV1", "Baidu", "Browser", "Xiaomi",
            ])
        #expect(Set(ordered.map { $0.outcomeCounts.index }).isDisjoint(with: [5, 6]))
    }

    @Test func noPlatformTakesAHandleWithALineFeedOrWithoutText() {
        for platform in PushPlatforms.all {
            for part in ["", " ", "a\nb", "https://example.com/a\nb", "ä"] {
                let count = platform.descriptor.registration.handleElements.count
                #expect(
                    refusal(of: PushHandle(parts: Array(repeating: part, count: count)), on: platform) == .badHandle)
            }
            #expect(refusal(of: PushHandle(parts: []), on: platform) == .badHandle)
        }
    }

    @Test func everyPlatformHasAMessageThatShowsATextAndItIsTaken() {
        for platform in PushPlatforms.all {
            #expect(refusal(showing: #"<"Grüße" & more>"#, on: platform) == nil)
            #expect(refusal(showing: String(repeating: "x", count: 7000), on: platform) == .messageTooLarge)
        }
    }

    private func descriptors() -> [PushPlatformDescriptor] { PushPlatforms.all.map { $0.descriptor } }

    private func refusal(of handle: PushHandle, on platform: any PushPlatform.Type) -> PushServiceError.Kind? {
        do throws(PushServiceError) {
            _ = try platform.key(of: handle)
            return nil
        } catch {
            return error.kind
        }
    }

    private func refusal(showing text: String, on platform: any PushPlatform.Type) -> PushServiceError.Kind? {
        do throws(PushServiceError) {
            try platform.check(try platform.message(showing: text))
            return nil
        } catch {
            return error.kind
        }
    }
}
