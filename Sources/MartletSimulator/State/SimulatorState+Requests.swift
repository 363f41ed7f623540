import MartletHTTP
import MartletModel
import MartletPush

/// The decision of the simulator about one request.
struct Verdict: Sendable {
    /// The fault that happens to the request; nil for none.
    var fault: Fault?
    /// The service's answer; nil if the request does not reach the service.
    var answer: SimulatedAnswer?
}

/// Applies the rules of the services and the faults to requests and connections.
extension SimulatorState {
    /// Returns the TLS fault that happens to the next connection to a service; nil if the listener presents its correct
    /// certificate.
    func acceptFault(of platform: PlatformID) -> Fault.TLSFault? {
        guard case .tls(let fault) = fault(at: .accept, nil, on: nil, of: platform) else { return nil }
        return fault
    }

    /// Records a new connection to a service, and decides what happens on it before its first request.
    /// - Parameter silence: How long ago the peer last sent anything.
    /// - Returns: The steps that the service takes on the connection, and the fault that happens to the connection; nil
    ///   for no fault.
    func opened(
        _ connection: HTTPConnection, silentFor silence: Duration, of platform: PlatformID
    ) -> (steps: [ConnectionStep], fault: Fault?) {
        let steps = withContents { contents, now in
            contents.withService(platform) { service -> [ConnectionStep] in
                service.opened(connection, silentFor: silence)
                return service.rules.open(connection, at: now)
            }
        }
        return (steps ?? [], fault(at: .open, nil, on: connection.id, of: platform))
    }

    func closed(_ connection: UInt64, of platform: PlatformID) {
        withContents { contents, _ in _ = contents.withService(platform) { $0.closed(connection) } }
    }

    /// Returns whether, for a service, the plan has a fault rule that is decided as soon as the head of a request was
    /// received, before the body.
    func looksAtHeads(of platform: PlatformID) -> Bool {
        withContents { contents, _ in contents.plan.decides(at: .head, for: platform) }
    }

    /// Returns the stage at which a fault resets the connection before the whole request was received; nil for no
    /// fault.
    func headFault(_ head: HTTPRequest, of platform: PlatformID) -> Fault.ResetStage? {
        guard case .reset(let stage) = fault(at: .head, head, on: head.connection?.id, of: platform) else { return nil }
        return stage
    }

    /// Judges a request. Decides which fault happens to the request, and lets the service answer unless the fault
    /// prevents an answer.
    func judge(_ request: HTTPRequest, of platform: PlatformID) -> Verdict {
        let fault = fault(at: .request, request, on: request.connection?.id, of: platform)
        return withContents { contents, now in
            let answer = contents.withService(platform) { service -> SimulatedAnswer? in
                service.requestBegan()
                switch fault {
                case .service(let fault): return service.rules.answer(request, fault: fault, at: now)
                case .clockSkew(let offset): return service.rules.answer(request, at: now + offset)
                case let fault? where !fault.reachesService: return nil
                default: return service.rules.answer(request, at: now)
                }
            }
            if let delivery = answer??.delivery { contents.deliver(delivery) }
            contents.recordNewMessages(of: platform, over: request.connection?.id)
            contents.sockets.perform(answer??.socketSteps ?? [])
            return Verdict(fault: fault, answer: answer ?? nil)
        }
    }

    /// Records that a request was answered or cancelled.
    func requestEnded(of platform: PlatformID) {
        withContents { contents, _ in _ = contents.withService(platform) { $0.requestEnded() } }
    }

    private func fault(
        at trigger: FaultTrigger, _ request: HTTPRequest?, on connection: UInt64?, of platform: PlatformID
    ) -> Fault? {
        withContents { contents, now in
            guard let index = contents.services.firstIndex(where: { $0.platform == platform }) else { return nil }
            let facts = contents.services[index].facts(request, on: connection, at: trigger)
            guard let fault = contents.plan.fault(for: facts, at: now) else { return nil }
            contents.services[index].happened(fault)
            return fault
        }
    }
}

extension SimulatorState.Contents {
    /// Writes to the ledger the messages that a service has accepted since this function was last called.
    mutating func recordNewMessages(of platform: PlatformID, over connection: UInt64?) {
        guard let ledger else { return }
        let news = withService(platform) { service in
            defer { service.rules.devices.news = [] }
            let opened = connection.flatMap { service.openings[$0] } ?? 0
            return (service.rules.devices.news ?? []).map { ($0, opened) }
        }
        for (delivery, opened) in news ?? [] { ledger.record(delivery, on: platform, opened: opened) }
    }

    /// Calls `body` with one service.
    /// - Returns: nil if there is no service with this platform.
    mutating func withService<Result>(
        _ platform: PlatformID, _ body: (inout SimulatedService) -> Result
    ) -> Result? {
        guard let index = services.firstIndex(where: { $0.platform == platform }) else { return nil }
        return body(&services[index])
    }
}

extension Fault {
    /// Whether a request still reaches the service if the fault happens to it. The service may then deliver the
    /// request's message.
    var reachesService: Bool {
        switch self {
        case .service, .clockSkew, .slow, .streamLimits, .reset(.stored): true
        case .unanswered(let isStored): isStored
        case .goAway(let fault): fault.last == .newest
        case .response(let fault): fault.kind == .truncated || fault.kind == .wrongLength
        case .reset, .resetStream, .smallWindow, .blackHole, .tls: false
        }
    }
}
