import MartletHTTP

extension HTTPRequest {
    /// The request with its whole body, which is read first if the body was left as a stream for the route to read.
    func collected() async throws(BackendError) -> HTTPRequest {
        guard let stream else { return self }
        var request = self
        request.stream = nil
        request.reservation = stream
        do throws(HTTPBodyError) {
            request.body = try await stream.collect(upTo: .max)
            return request
        } catch {
            throw error == .tooLarge ? .messageTooLarge("The body is too large.") : BackendError(error)
        }
    }
}
