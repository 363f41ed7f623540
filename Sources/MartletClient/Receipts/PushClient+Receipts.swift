import MartletModel

extension PushClient {
    /// Tells the server that a notification came to this device. It is kept until the server has taken it, and goes out
    /// in the background, with others where several wait.
    ///
    /// Does nothing where the push names no notification, or this device is not registered.
    public func received(_ content: PushContent) async {
        await note(content.receiptID, .received)
    }

    /// Tells the server that the user opened a notification; as `received` in all else.
    public func opened(_ content: PushContent) async {
        await note(content.receiptID, .opened)
    }

    private func note(_ notification: String?, _ event: Receipt.Event) async {
        guard let notification, let device = await registrationRecord.value.id else { return }
        let receipt = Receipt(notification: notification, event: event, at: surroundings.now(), device: device)
        await receiptQueue.change { $0.add(receipt) }
        runErrands()
    }

    /// Sends the receipts that wait.
    /// - Returns: What keeps some of them from being sent for now.
    func receiptErrand() async -> Setback? {
        while true {
            let batch = await receiptQueue.value.batch
            guard let device = batch.first?.device else { return nil }
            let body: JSON = ["device": .string(device), "receipts": .array(batch.map { .object($0.members) })]
            do throws(Setback) {
                // The server takes the same receipt twice; any other refusal is one for good.
                _ = try await ask(request("POST", "/api/receipts", body))
            } catch {
                // After log-in there is another round.
                if error.error.kind == .logInNeeded { return nil }
                return error
            }
            await receiptQueue.change { $0.remove(batch) }
        }
    }
}
