import MartletModel

extension PushClient {
    /// Tells the server that this device received a notification. The receipt is kept until the server has accepted it,
    /// and is sent in the background, together with any other pending receipts.
    ///
    /// Does nothing if the push names no notification, or if this device is not registered.
    public func received(_ content: PushContent) async {
        await record(content.receiptID, .received)
    }

    /// Does the same as `received(_:)`, for a process that the system stops once the notification is shown, such as a
    /// notification service extension. Returns after one attempt to send the receipt, whether or not it succeeded, and
    /// at the latest after `limit`.
    /// - Parameter limit: The longest wait for the server.
    public func received(_ content: PushContent, within limit: Duration) async {
        await received(content)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            await resume()
            end.finish()
        }
        let clock = Task { [environment] in
            _ = try? await environment.timeLimit(limit)
            end.finish()
        }
        for await _ in ends {}
        clock.cancel()
    }

    /// Tells the server that the user opened a notification. Otherwise it works like `received(_:)`.
    public func opened(_ content: PushContent) async {
        await record(content.receiptID, .opened)
    }

    private func record(_ notification: String?, _ event: Receipt.Event) async {
        guard let notification, let device = await registrationRecord.value.id else { return }
        let receipt = Receipt(notification: notification, event: event, at: environment.now(), device: device)
        await receiptQueue.change { $0.add(receipt) }
        runBackgroundRetries()
    }

    /// Sends the pending receipts.
    /// - Returns: The failure because of which some receipts cannot be sent for now; nil if no receipt is pending any
    ///   more, or if the receipts wait for a log-in.
    func retryReceipts() async -> RetryableFailure? {
        while true {
            let batch = await receiptQueue.value.batch
            guard let device = batch.first?.device else { return nil }
            let body: JSON = ["device": .string(device), "receipts": .array(batch.map { .object($0.members) })]
            do throws(RetryableFailure) {
                // The status of the answer is ignored. A refusal is permanent, because the server accepts even a
                // receipt that it already has. So refused receipts are removed below, like accepted ones.
                _ = try await ask(request("POST", "/api/receipts", body))
            } catch {
                // Without a user who is logged in, a retry is of no use. The receipts wait for a later round, such as
                // the one after the next log-in.
                if error.error.kind == .logInNeeded { return nil }
                return error
            }
            await receiptQueue.change { $0.remove(batch) }
        }
    }
}
