extension PageRecords {
    /// Encodes the same refusals and attempts again, with other numbers for their members. Equal records result in
    /// equal bytes, even if their kinds were first encoded in different orders.
    /// - Parameters:
    ///   - channels: The number to add to each channel.
    ///   - registrations: The number to add to each registration.
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
