"""What became of the nodes at one database, noted by triggers of the judge's own, and whether what a push service got agrees
with it. Moments are seconds by the clock on the wall, which the database and the push service share.

A node's *incarnation* is one process's membership: it renews a lease, and when the lease has ended and another node has
said so, it is dead for good. Each hub has one *owner*, the incarnation that sends for it.
"""

import bisect
import collections

LEASE = 10        # seconds from a renewal
MARGIN = 2        # beyond it, until others may call a node dead
SENDS_FOR = 8     # seconds from a renewal, after which a node sends nothing more
HOLDS_WITHIN = 1  # second, in which a pause holds at every node
GAP = 5           # seconds between two renewals, beyond which a node has been away
HEARTBEAT = 1     # second, from renewal to renewal
SHARES = 3        # seconds from a renewal, for which a node counts when hubs are shared

NOTES = """
    CREATE SCHEMA judge;
    CREATE TABLE judge.leases (
        number bigint GENERATED ALWAYS AS IDENTITY, incarnation bigint, name text, is_dead bool,
        at float8 DEFAULT extract(epoch FROM clock_timestamp()));
    CREATE TABLE judge.owners (
        number bigint GENERATED ALWAYS AS IDENTITY, hub bigint, incarnation bigint,
        at float8 DEFAULT extract(epoch FROM clock_timestamp()));
    CREATE FUNCTION judge.note_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO judge.leases (incarnation, name, is_dead) VALUES (NEW.incarnation, convert_from(NEW.name, 'UTF8'), NEW.is_dead);
        RETURN NULL;
    END $$;
    CREATE FUNCTION judge.note_owner() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO judge.owners (hub, incarnation) VALUES (NEW.shard, NEW.node);
        RETURN NULL;
    END $$;
    CREATE TRIGGER note_start AFTER INSERT ON martlet.nodes FOR EACH ROW EXECUTE FUNCTION judge.note_lease();
    CREATE TRIGGER note_renewal AFTER UPDATE ON martlet.nodes FOR EACH ROW
        WHEN ((OLD.renewed_at, OLD.is_dead) IS DISTINCT FROM (NEW.renewed_at, NEW.is_dead))
        EXECUTE FUNCTION judge.note_lease();
    CREATE TRIGGER note_first_owner AFTER INSERT ON martlet.send_ordinals FOR EACH ROW EXECUTE FUNCTION judge.note_owner();
    CREATE TRIGGER note_owner AFTER UPDATE OF node ON martlet.send_ordinals FOR EACH ROW
        WHEN (OLD.node IS DISTINCT FROM NEW.node) EXECUTE FUNCTION judge.note_owner();
    INSERT INTO judge.leases (incarnation, name, is_dead) SELECT incarnation, convert_from(name, 'UTF8'), is_dead FROM martlet.nodes;
    INSERT INTO judge.owners (hub, incarnation) SELECT shard, node FROM martlet.send_ordinals;
"""

Push = collections.namedtuple("Push", "key token arrived opened process identifier", defaults=(None, None, None))


class Incarnation:
    def __init__(self, number, name):
        self.number, self.name = number, name
        self.renewals = []
        self.dead = None      # when it was said to be
        self.revivals = []    # renewals behind that
        self.has_left = False # it was told to end, and ended its lease itself

    def last_renewal(self, moment):
        place = bisect.bisect_right(self.renewals, moment)
        return self.renewals[place - 1] if place else None

    def next_renewal(self, moment):
        place = bisect.bisect_left(self.renewals, moment)
        return self.renewals[place] if place < len(self.renewals) else None

    def steady_since(self, moment):
        """Since when it had renewed without a gap; None where it had not, or did not go on."""
        place = bisect.bisect_right(self.renewals, moment)
        if not place or moment - self.renewals[place - 1] > GAP:
            return None
        while place > 1 and self.renewals[place - 1] - self.renewals[place - 2] <= GAP:
            place -= 1
        return self.renewals[place - 1]


class History:
    def __init__(self, leases, owners, processes, ends=()):
        """leases: (incarnation, name, is dead, moment) in the order of the notes; owners: (hub, incarnation, moment);
        processes: the name of the node by the process's id and when it began; ends: (name, moment) of each node that
        was told to end and did."""
        self.incarnations, self.owners = {}, collections.defaultdict(list)
        for number, name, is_dead, moment in leases:
            each = self.incarnations.setdefault(number, Incarnation(number, name))
            if is_dead:
                each.dead = each.dead or moment
            elif each.dead:
                each.revivals.append(moment)
            else:
                each.renewals.append(moment)
        for name, moment in ends:
            for each in self.incarnations.values():
                if each.name == name and each.dead and each.renewals[0] < moment < each.dead and (
                        each.renewals[-1] > moment - LEASE):
                    each.has_left = True
        for hub, number, moment in owners:
            if not self.owners[hub] or self.owners[hub][-1][1] != number:
                self.owners[hub].append((moment, number))
        self._by_name = collections.defaultdict(list)
        for each in sorted(self.incarnations.values(), key=lambda each: each.number):
            self._by_name[each.name].append(each)
        self._processes = processes

    def sender(self, push):
        """The incarnation that sent it; None if its process was gone before anyone looked."""
        found = None
        for name, began in self._processes.get(push.process, ()):
            if began <= push.opened:
                found = [each for each in self._by_name[name] if began <= each.renewals[0] <= push.opened]
        return found[-1] if found else None

    # What must hold

    def repetitions(self, pushes, window):
        """What came to a device again: the push before, the one that came again, and whether the former's sender had
        died then, with pages in hand."""
        by_device = collections.defaultdict(list)
        for push in pushes:
            by_device[push.key, push.token].append(push)
        for each in by_device.values():
            each.sort(key=lambda push: push.arrived)
            for first, second in zip(each, each[1:]):
                yield first, second, self._was_in_hand(first, second, window)

    def _was_in_hand(self, first, second, window):
        sender = self.sender(first)
        if sender is None:
            return any(abs(first.arrived - each.renewals[-1]) < window for each in self.incarnations.values() if each.dead)
        ended = sender.dead is not None and not sender.has_left
        return ended and self.sender(second) is not sender and first.arrived >= sender.renewals[-1] - window

    def late(self, pushes, grace):
        """What an incarnation sent too long after its last renewal: the push, and how long."""
        for push in pushes:
            if (sender := self.sender(push)) is not None:
                if (age := push.arrived - sender.last_renewal(push.arrived)) > SENDS_FOR + grace:
                    yield push, age

    def foreign(self, pushes, hub_of, grace):
        """What was sent by an incarnation that knew that the hub was not its own: the push and the incarnation."""
        for push in pushes:
            if (sender := self.sender(push)) is None:
                continue
            owners, lost, had = self.owners.get(hub_of(push), []), None, False
            for place, (since, number) in enumerate(owners):
                if number == sender.number and since <= push.arrived:
                    had, lost = True, owners[place + 1][0] if place + 1 < len(owners) else None
            told = sender.next_renewal(lost) if lost else None
            if not had or told and push.arrived > told + HOLDS_WITHIN + grace:
                yield push, sender.number

    def leaks(self, pushes, start, end, grace):
        """Pushes of a notification that was paused from start to end: those of a sender that could know it."""
        for push in pushes:
            if not start < push.arrived < end:
                continue
            sender = self.sender(push)
            told = sender.next_renewal(start) if sender else None
            if told and push.arrived > max(start + HOLDS_WITHIN, told) + grace:
                yield push

    def buried(self, faults, calm):
        """The incarnations that were said to be dead although nothing was done to their node: it had no fault (name,
        start, end) of its own while it did not renew, nor less than `calm` seconds before."""
        for each in self.incarnations.values():
            if each.dead is None or each.has_left:
                continue
            last = each.renewals[-1]
            if not any(name == each.name and start < each.dead and (end is None or end + calm > last)
                       for name, start, end in faults):
                yield each

    def takeovers(self, absences=()):
        """The hubs that came to another node because their owner had died: the owner, when it renewed last, and when the
        hub had another; and since when one of the others could have known, which must be without a gap for as long. While
        the database is away, from and to moments of `absences`, no node can know or take anything: `since` moves by that.
        The share of a third node that has just gone silent is kept for it for a while: `since` is so late then that this
        while is in the time for a takeover."""
        for hub, owners in self.owners.items():
            for (_, before), (moment, after) in zip(owners, owners[1:]):
                former = self.incarnations.get(before)
                if former is None or former.dead is None or former.has_left or not after:
                    continue
                last = former.renewals[-1]
                steady = [since for each in self.incarnations.values() if each is not former
                          if (since := each.steady_since(moment)) is not None]
                since = max(last, min(steady, default=moment))
                silent = [renewal for each in self.incarnations.values() if each is not former and each.number != after
                          and (renewal := each.last_renewal(moment)) is not None
                          and 2 * HEARTBEAT < moment - renewal < SHARES + 2 * HEARTBEAT]
                since = max([since, *[renewal + SHARES - LEASE - MARGIN for renewal in silent]])
                away = sum(max(0, min(end, moment) - max(start, since)) for start, end in absences)
                yield hub, former, last, moment, since + away
