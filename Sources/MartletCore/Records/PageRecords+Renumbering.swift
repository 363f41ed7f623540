extension PageRecords {
    /// Encodes the same refusals and attempts for members with other numbers. Equal records give equal bytes, in whatever
    /// order their kinds were met at first.
    /// - Parameters:
    ///   - channels: What is added to each channel.
    ///   - registrations: What is added to each registration.
    public func renumbered(channels: Int64 = 0, registrations: Int64 = 0) -> [UInt8] {
        func moved(_ member: AudienceMember) -> AudienceMember {
            AudienceMember(
                channel: member.channel == .none
                    ? .none : ChannelID(rawValue: member.channel.rawValue + channels),
                registration: member.registration == 0 ? 0 : member.registration + registrations)
        }
        var encoder = PageRecordsEncoder()
        for index in 0..<refusalCount {
            var record = recordedRefusal(index)
            record.refusal.member = moved(record.refusal.member)
            encoder.append(
                record.refusal, record.registration.map(PageRecordsEncoder.Registration.init),
                installation: record.installation)
        }
        var index = 0
        while index < attemptCount {
            let own = attempts(of: member(ofAttempt: index))
            for var attempt in own {
                attempt.member = moved(attempt.member)
                encoder.append(attempt)
            }
            index += max(own.count, 1)
        }
        return encoder.encoded()
    }
}
