"""Forget sets that somebody put together: kept by name, read from lists of ids, and searched for
exact copies of their images. No torch.
"""

from mucore.forget_sets.copies import twins
from mucore.forget_sets.lists import Listed, read_file, read_list, to_csv
from mucore.forget_sets.saved import (
    KEPT,
    LONGEST,
    SAVED,
    NamedSet,
    check_fits,
    check_name,
    delete,
    folder,
    is_reference,
    keep,
    listed,
    load,
    make,
    parse,
    resolve,
    save,
    to_json,
)
