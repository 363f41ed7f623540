import CMartletPQ

/// Notes the warnings of the server on a connection. Notices of lower severity are ignored. By default, libpq would
/// print all of them.
final class Warnings {
    /// Whether the server has sent a warning since `begin` was called.
    private(set) var hasAny = false

    /// Begins to listen to a connection, which must be closed before this object is released.
    func listen(to connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { context, notice in
                guard let context, let notice else { return }
                Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue().note(notice)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func begin() { hasAny = false }

    private func note(_ notice: OpaquePointer) {
        let severity = PQresultErrorField(notice, martlet_PG_DIAG_SEVERITY_NONLOCALIZED).map { String(cString: $0) }
        if severity == "WARNING" { hasAny = true }
    }
}
