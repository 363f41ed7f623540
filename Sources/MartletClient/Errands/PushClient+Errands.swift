extension PushClient {
    /// Takes up at once what waits: registrations that failed, log-outs and receipts that the server has not heard of.
    ///
    /// Call it at launch, when the app comes to the foreground, and when the network is back. Returns when each was
    /// tried once; what fails again is tried on in the background.
    public func resume() async {
        await withCheckedContinuation { continuation in
            errands.waiting.append(continuation)
            startRound()
        }
    }

    /// Does what is due in the background, where the policy allows that.
    /// - Parameter afterFailure: Whether it has just failed, so that it waits first.
    func runErrands(afterFailure: Bool = false) {
        guard retry.keepsTrying else { return }
        guard afterFailure else { return startRound() }
        guard errands.phase == .resting else {
            errands.isWanted = true
            return
        }
        errands.failures += 1
        errands.phase = .sleeping
        start(after: retry.backgroundWait(after: errands.failures, chance: surroundings.chance()))
    }

    private func startRound() {
        switch errands.phase {
        case .running: errands.isWanted = true
        case .sleeping:
            errands.phase = .running
            errands.sleeper?.cancel()
        case .resting:
            errands.phase = .running
            start(after: .zero)
        }
    }

    /// Holds the client only while a round is under way: an app that lets it go is not kept waiting.
    private func start(after wait: Duration) {
        Task { [weak self] in
            var wait: Duration? = wait
            while let time = wait {
                await self?.sleeper(time)?.value
                wait = await self?.round()
            }
        }
    }

    /// - Returns: nil where there is nothing to wait for.
    private func sleeper(_ time: Duration) -> Task<Void, Never>? {
        guard errands.phase == .sleeping else { return nil }
        let sleeper = Task { [surroundings] in _ = try? await surroundings.sleep(time) }
        errands.sleeper = sleeper
        return sleeper
    }

    /// - Returns: How long to wait before the next round; nil where none is needed.
    private func round() async -> Duration? {
        errands.phase = .running
        errands.sleeper = nil
        errands.isWanted = false
        let departure = await departureErrand()
        let registration = await registrationErrand()
        let receipts = await receiptErrand()
        let wait = errands.end(departure ?? registration ?? receipts, retry: retry, chance: surroundings.chance())
        if errands.phase != .running {
            for waiting in errands.waiting { waiting.resume() }
            errands.waiting = []
        }
        return wait
    }

    /// Tells the server who has logged out.
    private func departureErrand() async -> Setback? {
        for departure in await logIns.value.departures {
            do throws(Setback) {
                try await takeTurn { () throws(Setback) in
                    // Whoever is back and has the same registration is not to lose it.
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
