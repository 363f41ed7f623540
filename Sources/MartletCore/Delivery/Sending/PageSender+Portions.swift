import MartletModel

extension PageSender {
    /// How long a portion waits, at first, for the answers to the portion before it. After that time, it keeps waiting
    /// only while fewer than half of the devices that were sent to so far were reached.
    private static let patience = Duration.seconds(1)

    private enum PortionEvent: Sendable {
        case sent(portion: Int, PageTally)
        /// The next portion has waited long enough for this portion.
        case waited(portion: Int)
    }

    /// Sends one group in portions that are as large as the sending rate of the service allows. Each portion waits for
    /// the answers to the portion before it, but not for a few devices that do not answer (`patience`).
    func send(_ group: RecipientGroup, of job: Job, within rate: SendingRate, tally: inout PageTally) async {
        let (empty, application) = (tally.emptied(), Self.application(of: group))
        var rest = group.indices[...]
        job.unsent?.add(rest.count)
        defer { job.unsent?.add(-rest.count) }
        await withTaskGroup(of: PortionEvent.self) { tasks in
            var (begun, inProgress) = (0, 0)
            while !rest.isEmpty, !end(rest, of: job, tally: &tally) {
                guard let count = await paces.turn(for: rest.count, rate) else {
                    hold(Array(rest), of: job, tally: &tally)
                    break
                }
                var portion = group
                portion.indices = Array(rest.prefix(count))
                rest = rest.dropFirst(portion.indices.count)
                job.unsent?.add(-portion.indices.count)
                if rest.isEmpty, inProgress == 0 { return await sendAtOnce(portion, of: job, tally: &tally) }
                begun += 1
                inProgress += 1
                tasks.addTask { [portion, begun] in
                    var own = empty
                    await sendAtOnce(portion, of: job, tally: &own)
                    return .sent(portion: begun, own)
                }
                guard !rest.isEmpty else { break }
                let patience = Task { [sent = group.indices.dropLast(rest.count)] in
                    await untilMostlyReached(sent, of: job)
                }
                tasks.addTask { [begun] in
                    await patience.value
                    return .waited(portion: begun)
                }
                var waits = true
                while waits, let event = await tasks.next() {
                    switch event {
                    case .sent(let number, let own):
                        tally.merge(own, of: application)
                        inProgress -= 1
                        waits = number != begun
                    case .waited(let number): waits = number != begun
                    }
                }
                patience.cancel()
            }
            for await case .sent(_, let own) in tasks { tally.merge(own, of: application) }
        }
    }

    /// Postpones or gives up the remaining pushes of a group if they must not be sent now.
    /// - Returns: Whether the pushes were postponed or given up.
    private func end(_ rest: ArraySlice<Int>, of job: Job, tally: inout PageTally) -> Bool {
        if job.isStopped {
            hold(Array(rest), of: job, tally: &tally)
            return true
        }
        if job.delivery.expiresAt <= time.now {
            tally.addUnreached(rest.map { addressee($0, of: job) }, .expired)
            return true
        }
        // If the service has asked for a pause in the answers to an earlier portion, the remaining pushes wait too.
        guard tally.lane.pause != nil, let cause = tally.lane.pauseCause else { return false }
        add(
            Outcome(cause.name, reason: cause.reason, .retry(after: .zero, scope: .platform)), of: job,
            at: Array(rest), to: &tally)
        return true
    }

    /// Waits until half of the given devices were reached, but at least as long as `patience`. The wait ends early if
    /// the task is cancelled.
    private func untilMostlyReached(_ indices: ArraySlice<Int>, of job: Job) async {
        repeat {
            do { try await time.sleep(until: time.now + Self.patience) } catch { return }
        } while indices.count { job.map.contains(job.page.members[$0]) } * 2 < indices.count
    }
}
