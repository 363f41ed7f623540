import FuzzDriver

@testable import MartletHubAPI

/// The value of an `Authorization` header: whatever it is, it is read or refused.
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
