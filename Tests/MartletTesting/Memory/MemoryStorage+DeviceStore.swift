public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: DeviceStore {
    public func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>] {
        state.withLock { state in changes.map { state.apply($0, in: hub, at: now) } }
    }

    public func registration(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Registration? {
        state.withLock { state in
            guard let index = state.index(of: id, in: hub), state.registrations[index].isLive(at: now) else {
                return nil
            }
            return state.shown(state.registrations[index])
        }
    }

    public func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage {
        state.withLock { state in
            let found = state.registrations.filter { entry in
                entry.hub == query.hub && entry.isLive(at: query.now) && entry.sequence > query.after ?? 0
                    && state.matches(entry, query.filter)
            }
            var (page, bytes) = ([Registration](), 0)
            for entry in found {
                guard page.count < query.limit, bytes < query.byteLimit else { break }
                page.append(state.shown(entry))
                bytes += page[page.count - 1].memoryBytes
            }
            return RegistrationPage(
                registrations: page,
                next: found.count > page.count ? found.prefix(page.count).last?.sequence : nil)
        }
    }

    public func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage {
        state.withLock { $0.audience(query) }
    }

    public func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount {
        state.withLock { $0.audienceCount(query) }
    }

    public func renderings(_ ids: [TemplateBinding.ID], in hub: Hub.ID) async throws(StorageError) -> [TemplateBinding]
    {
        state.withLock { state in ids.compactMap { state.rendering($0) } }
    }

    public func tags(
        beginningWith prefix: String, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [Tag] {
        state.withLock { state in
            let tags = state.registrations.filter { $0.hub == hub && $0.registration.template == nil }
                .flatMap(\.registration.tags).filter { $0.folded.hasPrefix(prefix) }
            return Array(Set(tags).sorted { $0.folded < $1.folded }.prefix(limit))
        }
    }

    public func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage {
        state.withLock { state in
            let page = state.audience(query)
            let channels = Set(page.members.map(\.channel))
            let tags = state.registrations.filter { channels.contains($0.channel) && $0.isLive(at: query.now) }
                .flatMap(\.registration.tags)
            return TagPage(
                tags: Set(tags.filter { $0.folded.hasPrefix(prefix.lowercased()) }),
                next: page.isLast ? nil : page.members.last)
        }
    }

    public func apply(
        _ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Int {
        state.withLock { state in
            feedback.reduce(0) { $0 + (state.apply($1, in: hub, at: now) ? 1 : 0) }
        }
    }

    public func suspectedStale(
        of platform: PlatformID, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [ChannelID] {
        state.withLock { state in
            let found = state.channels.filter { $0.hub == hub && $0.platform == platform && $0.isSuspected }
            return Array(found.map(\.id).sorted { $0.rawValue < $1.rawValue }.prefix(limit))
        }
    }
}
