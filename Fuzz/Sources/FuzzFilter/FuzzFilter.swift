import FuzzDriver
import MartletPush

@testable import MartletHubAPI

/// Input: the value of the query parameter `$filter`. Checks that it is parsed or refused, without a crash.
@main
struct FuzzFilter {
    static func main() {
        fuzz { bytes, count in
            let text = String(input: bytes, count)
            if let filter = try? ChannelFilter(text) {
                precondition(!filter.terms.isEmpty, "a filter has a term")
                let candidates = (try? filter.candidates(PushPlatforms.all)) ?? []
                precondition(candidates.count <= 2 * Array(PushPlatforms.all).count, "at most two readings")
            }
            return 0
        }
    }
}
