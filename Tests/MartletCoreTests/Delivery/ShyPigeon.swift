import MartletCore
import MartletModel
import MartletTesting

/// A pigeon whose service slows down for everybody on a connection on which it had to refuse somebody.
struct ShyPigeon: PigeonInDisguise {
    static let platform = PlatformID(rawValue: "shy")

    static let descriptor: PushPlatformDescriptor = {
        var descriptor = CarrierPigeon.descriptor
        descriptor.platform = platform
        descriptor.credentialPlatform = CarrierPigeon.platform
        return descriptor
    }()

    static let slowsConnectionsOfStaleDevices = true

    let pigeon: CarrierPigeon

    init(credential: Credential) throws(PushServiceError) {
        pigeon = try CarrierPigeon(credential: credential)
    }
}
