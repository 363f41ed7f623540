import CMartletOpenSSL

extension NetworkError {
    /// Returns the last error in OpenSSL's error queue of this thread, and clears the queue.
    static func openSSL(_ kind: Kind, _ doing: String) -> NetworkError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        let reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
        return NetworkError(kind, "\(doing): \(reason)")
    }
}
