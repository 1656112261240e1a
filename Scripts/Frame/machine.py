"""What this machine's processors do meanwhile: how much others take, so that a trial does not blame the cluster for them."""
import os
import threading
import time

from Frame.programs import process_times

# Above this share of the processors, other programs spoil times and losses.
MOST_OF_OTHERS = 0.25


class Machine:
    """Notes each half second how much of the processors went to this trial's processes, and to all others."""

    def __init__(self):
        self.samples = []  # (time, others' part, ours)
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        before, all_before = process_times(), self.all_times()
        ours = set()
        while True:
            time.sleep(0.5)
            now, all_now = process_times(), self.all_times()
            # Our processes stay ours: a killed process's children have another parent.
            ours = {pid for pid in now if pid in ours or self.is_ours(pid, now)}
            spent = sum(now[pid][1] - before.get(pid, (0, 0))[1] for pid in ours)
            total, idle = (new - old for new, old in zip(all_now, all_before))
            if total > 0:
                self.samples.append((time.monotonic(), max(0, total - idle - spent) / total, spent / total))
            before, all_before = now, all_now

    @staticmethod
    def is_ours(pid, processes):
        while pid in processes:
            if pid == os.getpid():
                return True
            pid = processes[pid][0]
        return False

    @staticmethod
    def all_times():
        """All ticks of all processors, and the idle ones."""
        with open("/proc/stat") as file:
            ticks = [int(field) for field in file.readline().split()[1:9]]
        return sum(ticks), ticks[3] + ticks[4]

    def others(self, begin, end):
        """The part of the processors that others took, 0 to 1."""
        parts = [others for moment, others, _ in self.samples if begin <= moment <= end + 0.5]
        return sum(parts) / len(parts) if parts else 0

    def excuse(self, begin, end):
        """Why slow or lost requests in that time prove nothing about the cluster; None if they do."""
        others = self.others(begin, end)
        return f"other programs took {others:.0%} of the processors" if others > MOST_OF_OTHERS else None
