import MartletCore
import MartletModel

extension MemoryState {
    mutating func audience(_ query: AudienceQuery) -> AudiencePage {
        var page = AudiencePage()
        page.snapshot = AudienceSnapshot(change: Int64(history.count), registration: lastRegistration)
        for member in members(query).filter({ $0.id > query.after }).sorted(by: { $0.id < $1.id }) {
            guard !page.isFull(for: query) else {
                page.isLast = false
                break
            }
            if let sample = query.sample {
                page.stoppedAt = member.id
                guard sample.contains(member.id.number) else { continue }
            }
            var text = shown(member.entries[0]).handle.text
            text.withUTF8 { page.append(member.id, handle: $0) }
            page.skipped += member.entries.count - 1
            if let template = member.entries[0].registration.template {
                let rendering = rendering(template, member.entries[0].registration.pushVariables)
                page.setRendering(rendering.id, template: { rendering.template }, variables: { rendering.variables })
            }
            if let variants = query.variants {
                let variant = variant(of: member.entries[0], variants)
                page.setVariant(variant.id) { variant.variables }
            }
        }
        return page
    }

    private mutating func variant(of entry: MemoryRegistration, _ variants: AudienceVariants) -> MessageVariant {
        let tags = registrations.filter { $0.channel == entry.channel && $0.registration.template == nil }
            .flatMap(\.registration.tags)
        let own = variants.readsVariables ? entry.registration.pushVariables : [:]
        return MessageVariant(
            id: MessageVariant.ID(
                language: variants.languages.index(forDeviceWith: tags), variables: variablesID(of: own)),
            variables: own)
    }

    /// Returns each member of an audience, with the registrations that match the query and make it a member.
    private func members(_ query: AudienceQuery) -> [(id: AudienceMember, entries: [MemoryRegistration])] {
        let matching = registrations.filter { entry in
            entry.hub == query.hub && entry.registration.platform == query.platform && entry.isLive(at: query.now)
                && (entry.registration.template == nil) == (query.kind == .native)
                && (query.expression?.matches(Set(entry.registration.tags)) ?? true)
        }
        let among = query.among.map { Set($0) }
        switch query.kind {
        case .native where query.namesRegistrations:
            return matching.compactMap { entry in
                let member = AudienceMember(channel: entry.channel, registration: entry.sequence)
                return among?.contains(member) ?? true ? (member, [entry]) : nil
            }
        case .native:
            let channels = Set(among?.map(\.channel) ?? [])
            return Dictionary(grouping: matching, by: \.channel).compactMap { channel, entries in
                guard channel <= query.throughChannel, among == nil || channels.contains(channel) else { return nil }
                return (AudienceMember(channel: channel), entries)
            }
        case .template:
            return matching.compactMap { entry in
                let member = AudienceMember(channel: entry.channel, registration: entry.sequence)
                guard entry.sequence <= query.throughRegistration, among?.contains(member) ?? true else { return nil }
                return (member, [entry])
            }
        }
    }

    mutating func audienceCount(_ query: AudienceCountQuery) -> AudienceCount {
        var count = AudienceCount()
        count.lowestHashes = query.sampling?.lowest
        for platform in Set(registrations.filter { $0.hub == query.hub }.map(\.registration.platform)) {
            guard query.platform ?? platform == platform else { continue }
            let members = [AudienceQuery.Kind.native, .template].map { kind in
                query.kind ?? kind == kind
                    ? self.members(
                        AudienceQuery(
                            hub: query.hub, platform: platform, kind: kind, expression: query.expression,
                            throughChannel: query.bounds?.channel ?? ChannelID(rawValue: .max),
                            throughRegistration: query.bounds?.registration ?? .max, limit: .max, now: query.now))
                    : []
            }
            var counts = AudienceCount.PlatformCounts(
                native: members[0].count, skipped: members[0].reduce(0) { $0 + $1.entries.count - 1 },
                templates: members[1].count, devices: Set((members[0] + members[1]).map(\.id.channel)).count)
            guard counts.registrations > 0 else { continue }
            if let hash = query.sampling?.hash {
                for member in members[0] + members[1] { count.lowestHashes?.insert(hash(member.id.number)) }
            }
            for member in query.languages == nil ? [] : members[0] {
                let tags = member.entries.flatMap(\.registration.tags)
                counts.languages[query.languages?.index(forDeviceWith: tags) ?? 0, default: 0] += 1
            }
            counts.renderings = renderings(members[1].map { $0.entries[0].registration }, limit: query.renderingLimit)
            count.platforms[platform] = counts
        }
        return count
    }

    private mutating func renderings(_ registrations: [Registration], limit: Int) -> [TemplateBinding.ID: Int] {
        var counts: [TemplateBinding.ID: Int] = [:]
        for registration in registrations {
            guard limit > 0, let template = registration.template else { continue }
            let id = rendering(template, registration.pushVariables).id
            if counts[id] != nil || counts.count < limit { counts[id, default: 0] += 1 }
        }
        return counts
    }

    func rendering(_ id: TemplateBinding.ID) -> TemplateBinding? {
        guard templates.indices.contains(Int(id.template) - 1) else { return nil }
        let variables = id.variables == 0 ? [:] : self.variables[Int(id.variables) - 1]
        return TemplateBinding(id: id, template: templates[Int(id.template) - 1], variables: variables)
    }

    /// Returns a template binding. The ids in it are positions in lists that only grow, so an id never changes its
    /// meaning.
    private mutating func rendering(_ template: Template, _ variables: [String: String]) -> TemplateBinding {
        if !templates.contains(template) { templates.append(template) }
        let index = templates.firstIndex(of: template) ?? 0
        let id = TemplateBinding.ID(template: Int64(index + 1), variables: variablesID(of: variables))
        return TemplateBinding(id: id, template: template, variables: variables)
    }

    private mutating func variablesID(of variables: [String: String]) -> Int64 {
        if variables.isEmpty { return 0 }
        if let index = self.variables.firstIndex(of: variables) { return Int64(index + 1) }
        self.variables.append(variables)
        return Int64(self.variables.count)
    }

    /// Applies one item of a push service's feedback.
    /// - Returns: Whether a channel was removed.
    mutating func apply(_ feedback: ChannelFeedback, in hub: Hub.ID, at now: Timestamp) -> Bool {
        guard let found = channels.firstIndex(where: { $0.id == feedback.channel && $0.hub == hub }) else {
            return false
        }
        switch feedback.kind {
        case .gone(let timestamp):
            if let timestamp, channels[found].registeredAt > timestamp { return false }
            while let index = registrations.firstIndex(where: { $0.channel == feedback.channel }) {
                remove(index, .unregistered, at: now)
            }
            return true
        case .moved(let handle, let key):
            move(found, to: handle, key: key, at: now)
            return false
        case .suspected:
            channels[found].isSuspected = true
            return false
        case .trusted:
            channels[found].isSuspected = false
            return false
        }
    }

    private mutating func move(_ found: Int, to handle: PushHandle, key: String, at now: Timestamp) {
        let channel = channels[found]
        for entry in registrations where entry.channel == channel.id { keep(entry, .moved, at: now) }
        let target = channels.first { $0.hub == channel.hub && $0.platform == channel.platform && $0.key == key }
        if target == nil || target?.id == channel.id {
            channels[found].handle = handle
            channels[found].key = key
            channels[found].isSuspected = false
        }
        for index in registrations.indices where registrations[index].channel == channel.id {
            registrations[index].channel = target?.id ?? channel.id
            registrations[index].registration.version += 1
            registrations[index].registration.updatedAt = now
        }
        removeUnusedChannels()
    }
}
