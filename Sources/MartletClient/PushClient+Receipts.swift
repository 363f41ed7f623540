import MartletModel

extension PushClient {
    /// Tells the server that a notification came to this device. It is kept until the server has taken it, and goes out
    /// in the background, with others where several wait.
    ///
    /// Does nothing where the push names no notification, or this device is not registered.
    public func received(_ content: PushContent) async {
        await record(content.receiptID, .received)
    }

    /// The same for a process that the system stops once it has shown the notification, such as a notification service
    /// extension: returns when the server was told, and after a while in any case.
    /// - Parameter limit: The longest wait.
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

    /// Tells the server that the user opened a notification; as `received` in all else.
    public func opened(_ content: PushContent) async {
        await record(content.receiptID, .opened)
    }

    private func record(_ notification: String?, _ event: Receipt.Event) async {
        guard let notification, let device = await registrationRecord.value.id else { return }
        let receipt = Receipt(notification: notification, event: event, at: environment.now(), device: device)
        await receiptQueue.change { $0.add(receipt) }
        runBackgroundRetries()
    }

    /// Sends the receipts that wait.
    /// - Returns: What keeps some of them from being sent for now.
    func retryReceipts() async -> RetryableFailure? {
        while true {
            let batch = await receiptQueue.value.batch
            guard let device = batch.first?.device else { return nil }
            let body: JSON = ["device": .string(device), "receipts": .array(batch.map { .object($0.members) })]
            do throws(RetryableFailure) {
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
