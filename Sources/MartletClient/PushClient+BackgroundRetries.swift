extension PushClient {
    /// Immediately retries all pending work: failed registrations, and log-outs and receipts that the server has not
    /// received.
    ///
    /// Call it at launch, when the app comes to the foreground, and when the network is back. It returns after one
    /// round of attempts. Work that fails again for a temporary reason is retried in the background, if
    /// `RetryPolicy.keepsTrying` is set.
    public func resume() async {
        await withCheckedContinuation { continuation in
            backgroundRetries.waiting.append(continuation)
            startRound()
        }
    }

    /// Starts a round in the background that retries all due work, if the policy allows background retries.
    /// - Parameter afterFailure: Whether the work has just failed, so that the first round begins after a wait.
    func runBackgroundRetries(afterFailure: Bool = false) {
        guard retry.keepsTrying else { return }
        guard afterFailure else { return startRound() }
        guard backgroundRetries.phase == .resting else {
            backgroundRetries.isWanted = true
            return
        }
        backgroundRetries.failures += 1
        backgroundRetries.phase = .sleeping
        start(after: retry.backgroundWait(after: backgroundRetries.failures, chance: environment.chance()))
    }

    private func startRound() {
        switch backgroundRetries.phase {
        case .running: backgroundRetries.isWanted = true
        case .sleeping:
            backgroundRetries.phase = .running
            backgroundRetries.sleeper?.cancel()
        case .resting:
            backgroundRetries.phase = .running
            start(after: .zero)
        }
    }

    /// Runs rounds, the first after `wait`, until `round` returns nil. Retains the client only while a round is in
    /// progress, so that an app can release the client during a wait.
    private func start(after wait: Duration) {
        Task { [weak self] in
            var wait: Duration? = wait
            while let time = wait {
                await self?.sleeper(time)?.value
                wait = await self?.round()
            }
        }
    }

    /// Starts a task that ends when the next round must begin.
    /// - Returns: nil if the next round must begin at once.
    private func sleeper(_ time: Duration) -> Task<Void, Never>? {
        guard backgroundRetries.phase == .sleeping else { return nil }
        let sleeper = Task { [environment] in _ = try? await environment.sleep(time) }
        backgroundRetries.sleeper = sleeper
        return sleeper
    }

    /// Runs one round of retries.
    /// - Returns: The wait before the next round; nil if no round follows (see `BackgroundRetries.end`).
    private func round() async -> Duration? {
        backgroundRetries.phase = .running
        backgroundRetries.sleeper = nil
        backgroundRetries.isWanted = false
        let departure = await retryLogOut()
        let registration = await retryRegistration()
        let receipts = await retryReceipts()
        let wait = backgroundRetries.end(
            departure ?? registration ?? receipts, retry: retry, chance: environment.chance())
        if backgroundRetries.phase != .running {
            for waiting in backgroundRetries.waiting { waiting.resume() }
            backgroundRetries.waiting = []
        }
        return wait
    }

    /// Tells the server about pending log-outs.
    /// - Returns: The temporary failure because of which a log-out is still pending; nil if no log-out is pending any
    ///   more.
    private func retryLogOut() async -> RetryableFailure? {
        for departure in await logIns.value.departures {
            do throws(RetryableFailure) {
                try await takeTurn { () throws(RetryableFailure) in
                    // A log-out that was dropped meanwhile is skipped: the user has logged in again with the same
                    // registration, so the registration must not be removed.
                    guard await logIns.value.departures.contains(departure) else { return }
                    try await depart(departure)
                }
            } catch {
                if error.mayPass || error.error.mayPass || error.error.kind == .cancelled { return error }
            }
            await logIns.change { $0.departures.removeAll { $0 == departure } }
        }
        return nil
    }
}
