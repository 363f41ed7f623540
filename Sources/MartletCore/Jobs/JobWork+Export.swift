// An export writes a hub's registrations page by page, and stores its progress after about every `stepBytes` bytes.
extension JobWork {
    private static let pageLimit = 1000
    /// The approximate number of bytes after which the progress of an export is stored.
    private static let stepBytes = 8 << 20

    mutating func export() async throws(JobStop) {
        let hub = progress.job.hub
        let total = try await access { () async throws(StorageError) in try await parts.jobs.registrationCount(in: hub)
        }
        progress.job.status = .running
        var unsynchronized = 0
        var isLast = false
        while !isLast {
            let query = RegistrationQuery(
                hub: hub, filter: .all, after: progress.cursor.sequence, limit: Self.pageLimit, now: parts.time.now)
            let page = try await access { () async throws(StorageError) in try await parts.devices.registrations(query)
            }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(512 * page.registrations.count)
            for registration in page.registrations {
                guard let line = parts.lines.line(registration) else { continue }
                bytes += line
                bytes.append(UInt8(ascii: "\n"))
            }
            try await files?.write(bytes, to: .output)
            unsynchronized += bytes.count
            progress.cursor.count += Int64(page.registrations.count)
            progress.cursor.sequence = page.next ?? progress.cursor.sequence
            isLast = page.next == nil
            if isLast || unsynchronized >= Self.stepBytes {
                progress.job.progress = min(99, 100 * Double(progress.cursor.count) / Double(max(1, total)))
                try await step(unsynchronized)
                unsynchronized = 0
            }
        }
    }

    /// Flushes the `count` bytes that were written since the last step to disk, and then stores the progress.
    private mutating func step(_ count: Int) async throws(JobStop) {
        try await files?.synchronizeOutput()
        progress.cursor.output.bytes += Int64(count)
        try await record()
    }
}
