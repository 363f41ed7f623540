import MartletCrypto
import MartletModel
import MartletNetwork
import MartletPush

/// The authority of one run of the simulator and the certificate of its listener.
struct SimulatorCertificates {
    let authorityPEM: String
    let identity: TLSIdentity

    init(host: String, now: Timestamp) throws(SimulatorError) {
        do throws(CryptoError) {
            let seconds = Int(now.seconds)
            let authority = try CertificateAuthority.generate(commonName: "Push service simulator", now: seconds)
            let hosts = Set(["localhost", "127.0.0.1", "::1", host])
            let identity = try authority.issue(
                CertificateRequest(commonName: "simulator", hosts: hosts.sorted()), now: seconds)
            authorityPEM = try authority.identity.certificatePEM()
            self.identity = TLSIdentity(
                certificatesPEM: try identity.certificatePEM(), privateKeyPEM: try identity.privateKeyPEM())
        } catch {
            throw SimulatorError("The simulator's certificate cannot be made: \(error)")
        }
    }
}
