import MartletHTTP

extension HTTPRequest {
    /// Returns the request with its whole body. If the body was left as a stream for the route to read, it is read
    /// first.
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
