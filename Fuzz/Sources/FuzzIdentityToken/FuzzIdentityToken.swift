import FuzzDriver
import MartletModel

@testable import MartletOpenIDConnect

/// Input: a bearer token on the first line, followed by the key set of an identity provider. Checks that both are parsed
/// or refused, without a crash.
@main
struct FuzzIdentityToken {
    static func main() {
        fuzz { bytes, count in
            let lines = String(input: bytes, count).split(
                separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let keys = JSONWebKey.keys(ofSet: Array((lines.count > 1 ? lines[1] : "").utf8)) ?? []
            precondition(keys.count <= 64)
            guard let token = try? IdentityToken(String(lines[0])),
                let settings = try? OpenIDConnectSettings(
                    issuer: "https://joe.example", audience: "m", rolesClaim: "a.b")
            else { return 0 }
            let rules = TokenRules(settings: settings)
            let now = Timestamp(seconds: 1_300_819_000)
            let claims = try? rules.claims(token.claims, at: now)
            precondition((claims?.roles.count ?? 0) <= 1000)
            for key in keys where key.hasSigned(token) {
                precondition(key.algorithm == token.algorithm)
                let proven = try? rules.claims(of: token, signedWith: key, at: now)
                precondition(proven == nil || claims != nil)
            }
            return 0
        }
    }
}
