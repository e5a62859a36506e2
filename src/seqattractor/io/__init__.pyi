from ._gait import load_gait as load_gait
from ._load import load as load
from ._load import load_all as load_all
from ._midi import write_midi as write_midi
from ._mnist import load_mnist as load_mnist
from ._mnist import load_moving_mnist as load_moving_mnist
from ._spikes import bin_spikes as bin_spikes
from ._units import align_units as align_units
