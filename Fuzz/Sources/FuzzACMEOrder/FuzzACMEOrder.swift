import FuzzDriver
import MartletHTTP
import MartletModel

@testable import MartletACME

private let domains = ["push.example.org", "api.example.org"]

/// Input: the answers of a certificate authority, one per line, each with its status first. Checks that every order ends,
/// that requests use https only, and that challenges are answered for the ordered names only.
@main
struct FuzzACMEOrder {
    static func main() {
        fuzz { bytes, count in
            guard let directory = ACMEURL("https://ca.example.org/dir") else { return 0 }
            let lines = String(input: bytes, count).split(separator: "\n", omittingEmptySubsequences: false)
            var answers = lines.map(answer)
            var order = ACMEOrder(
                ACMEOrder.Settings(directory: directory, domains: domains, request: [1]),
                continuing: lines.count % 2 == 0 ? ACMEURL("https://ca.example.org/order/1") : nil)
            var queue = order.begin()
            var steps = 0
            while !queue.isEmpty, steps < 4096 {
                steps += 1
                switch queue.removeFirst() {
                case .send(let request):
                    precondition(request.url.origin.scheme == .https)
                    guard !answers.isEmpty else { return 0 }
                    queue += order.received(answers.removeFirst())
                case .wait(let duration):
                    precondition(duration >= .zero)
                    queue += order.waited()
                case .answer(let challenges):
                    precondition(challenges.allSatisfy { domains.contains($0.domain) && !$0.token.isEmpty })
                    precondition(challenges.count <= domains.count)
                case .fail(let failure): precondition(failure.reason.utf8.count < 4096)
                case .countOrder, .remember, .finish: break
                }
            }
            precondition(queue.isEmpty)
            return 0
        }
    }
}

/// Parses a line: `2`, `3`, `4` or `5` stands for the status, and the body follows. Nonce and location are constant.
private func answer(_ line: Substring) -> ACMEAnswer {
    let statuses: [Character: HTTPStatus] = ["2": 200, "3": 302, "4": 400, "5": 503]
    return ACMEAnswer(
        line.first.flatMap { statuses[$0] } ?? 200, nonce: "n", location: "https://ca.example.org/made",
        body: Array(line.dropFirst().utf8))
}
