import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// The push service of a real browser, which the simulator provides.
struct BrowserService {
    /// The platform's name in hubs.
    let platform: String
    /// The URL that the browser connects to.
    let socketURL: String
    /// The public key that the page subscribes with, in base64url.
    let publicKey: String

    /// Asks the simulator for its service that browsers connect to, and reads the values from the answer.
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
