import MartletHTTP
import MartletModel

extension PageSender {
    /// The maximum number of variants in a page for which each variant is sent in a batch of its own, with one body for
    /// all its devices.
    private static let batchLimit = 8

    /// Sends a composed message. A few variants are sent in separate batches, like native messages. Many variants are
    /// sent in shared batches with a body for each device, like rendered templates.
    func send(
        _ job: Job, composed renderer: inout ComposedRenderer, _ service: any PushService, _ indices: [Int],
        tally: inout PageTally
    ) async {
        guard job.page.variants.count <= Self.batchLimit else {
            return await send(job, &renderer, service, indices, tally: &tally)
        }
        var groups: [RecipientGroup] = []
        for (variant, members) in members(indices, of: job.page) {
            switch renderer.message(for: variant) {
            case .refused(let outcome):
                for index in members { tally.addUnsent(outcome, to: addressee(index, of: job)) }
            case .message(let message):
                let messages = PageMessages(limited(message, of: job, service))
                groups += self.groups(messages, to: members, of: job, service, tally: &tally)
            }
        }
        await send(groups, of: job, tally: &tally)
    }

    /// Returns the variants that the given members have, each with the indices of its members in the page.
    /// - Parameter indices: The indices of the given members in the page.
    private func members(_ indices: [Int], of page: AudiencePage) -> [(MessageVariant, [Int])] {
        guard page.variants.count > 1 else {
            return [(page.variants.first ?? MessageVariant(id: MessageVariant.ID(language: 0)), indices)]
        }
        var members = Array(repeating: [Int](), count: page.variants.count)
        for index in indices { members[Int(page.variantIndices[index])].append(index) }
        return zip(page.variants, members).filter { !$0.1.isEmpty }
    }
}
