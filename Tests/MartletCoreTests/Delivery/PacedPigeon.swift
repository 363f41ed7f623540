import MartletCore
import MartletModel
import MartletTesting

/// A pigeon that flies with another platform's credential, so many in a minute as its route says.
struct PacedPigeon: PigeonInDisguise {
    static let descriptor: PushPlatformDescriptor = {
        var descriptor = CarrierPigeon.descriptor
        descriptor.platform = PlatformID(rawValue: "paced")
        descriptor.credentialPlatform = CarrierPigeon.platform
        return descriptor
    }()

    let pace: SendingRate?
    let pigeon: CarrierPigeon

    init(credential: Credential) throws(PushServiceError) {
        pigeon = try CarrierPigeon(credential: credential)
        pace = SendingRate(account: "a", messagesPerMinute: Int(credential.properties["Route"] ?? "") ?? 60)
    }
}
