import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// The push service that the simulator is to a real browser.
struct BrowserService {
    /// The platform as hubs call it.
    let platform: String
    /// Where the browser connects.
    let socketURL: String
    /// Whom the page subscribes for, in base64url.
    let publicKey: String

    /// Asks the simulator.
    init(_ simulator: SimulatorConnection) async throws {
        let services = try await simulator.services().object ?? [:]
        guard let (platform, service) = services.first(where: { $0.value["sockets"] != nil }),
            let socketURL = service["sockets"]?.string,
            let publicKey = service["credential"]?["VapidPublicKey"]?.string
        else { throw ServerError("The simulator is the push service of no browser.") }
        self.platform = platform
        self.socketURL = socketURL
        self.publicKey = publicKey
    }
}
