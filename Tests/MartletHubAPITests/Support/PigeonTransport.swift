import MartletHTTP

/// Brings pigeons to every loft but those whose name begins with `lost`.
struct PigeonTransport: HTTPTransport {
    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {
        for index in 0..<batch.count {
            let isLost = batch.withPath(index) { $0.starts(with: "lost".utf8) }
            results(
                isLost
                    ? ResultPortion(answers: [.init(index: index, result: .success(HTTPResponse(.notFound)))])
                    : ResultPortion(plainSuccesses: [UInt32(index)]))
        }
    }

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.unreachable, mayHaveBeenProcessed: false, "no single requests are expected")
    }
}
