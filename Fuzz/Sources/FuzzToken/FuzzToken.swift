import FuzzDriver

@testable import MartletHubAPI

/// Input: the value of an `Authorization` header. Checks that it is parsed or refused, without a crash.
@main
struct FuzzToken {
    static func main() {
        fuzz { bytes, count in
            let text = String(input: bytes, count)
            if let token = SharedAccessSignature(header: text) {
                _ = token.audience?.covers(["demo", "messages"], at: ["hub.example"]) { $0 == 1 }
            }
            return 0
        }
    }
}
