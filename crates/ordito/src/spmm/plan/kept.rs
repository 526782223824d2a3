//! What a plan has prepared: a product for every number of columns that was asked for, A in few forms beside its own.
//!
//! Numbers of columns that want the same form of A share it. Which kernel serves a number of columns never depends on what was
//! asked for before: so a product has the same bits however many others a plan has served.

use crate::Scalar;
use crate::cpu::PerProcess;
use crate::op::Choice;
use crate::spmm::plan::overlapped::Overlapped;
use crate::spmm::product::{Product, Shared};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Forms of A beside A itself: the one in use, and one more for whoever takes turns (one column and a block of them). A third
/// takes the place of the one that was not used for longest.
const MOST_FORMS: usize = 2;
/// On a device numbers of columns share nothing, and each of them is a form: as many as the layers of a network have, forward and back.
/// Preparing one again takes the time of hundreds of products.
const MOST_FORMS_ON_DEVICE: usize = 8;
/// Numbers of columns that a plan remembers. Each costs a few hundred bytes; none of them is worth counting.
const MOST_PRODUCTS: usize = 64;

/// A product made ready for one number of columns.
pub(crate) struct Ready<S: Scalar> {
    pub(crate) k: usize,
    pub(crate) choice: Choice,
    /// How long preparing took, without the compilation of kernels.
    pub(crate) prepare_ns: f64,
    pub(crate) product: Shared<S>,
    /// The form of A that it reads: the same one for all that share it.
    pub(crate) form: Arc<Form>,
    /// The product in blocks of rows, where that was asked for and pays.
    pub(crate) overlapped: Mutex<Option<Overlapped<S>>>,
    last_used: AtomicU64,
}

/// What preparing has made of A.
#[derive(Debug)]
pub(crate) struct Form {
    /// 0 where A is read as it is.
    pub(crate) bytes: u64,
    /// On a device A is always a copy.
    is_copy: bool,
}

impl<S: Scalar> Ready<S> {
    /// A product that shares its form of A with nobody.
    pub(crate) fn new(k: usize, choice: Choice, prepare_ns: f64, product: Box<dyn Product<S>>) -> Self {
        let product = product.into_shared();
        let (bytes, is_copy) = match &product {
            Shared::OnHost(product) => (product.bytes(), product.bytes() > 0),
            Shared::OnDevice(_) => (0, true),
        };
        Ready::of(k, choice, prepare_ns, product, Arc::new(Form { bytes, is_copy }))
    }

    /// A product that reads a form of A that is there.
    pub(crate) fn of(k: usize, choice: Choice, prepare_ns: f64, product: Shared<S>, form: Arc<Form>) -> Self {
        let (overlapped, last_used) = (Mutex::new(None), AtomicU64::new(0));
        Ready { k, choice, prepare_ns, product, form, overlapped, last_used }
    }

    /// The product on a device; `None` on the CPU.
    pub(crate) fn on_device(&self) -> Option<MutexGuard<'_, Box<dyn Product<S>>>> {
        match &self.product {
            Shared::OnHost(_) => None,
            Shared::OnDevice(product) => Some(unpoisoned(product)),
        }
    }

    /// Does whoever made this product think that another one does as well?
    pub(crate) fn does_not_pay(&self) -> Option<String> {
        match &self.product {
            Shared::OnHost(product) => product.does_not_pay().map(str::to_owned),
            Shared::OnDevice(product) => unpoisoned(product).does_not_pay().map(str::to_owned),
        }
    }
}

/// Whoever panicked with this lock has left nothing half done that matters: products write what they compute anew.
pub(crate) fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The products of a plan.
pub(crate) struct Kept<S: Scalar> {
    ready: Mutex<Vec<Arc<Ready<S>>>>,
    /// Rises with every product that is asked for.
    clock: AtomicU64,
    /// What was chosen for which number of columns. Stays when products go: what was tuned, or tried in vain, is not tried again, and
    /// the bits are the same.
    choices: Mutex<BTreeMap<usize, Choice>>,
    /// Whoever prepares has it, so that nobody prepares the same at the same time. A child that `fork` made has one of its own: that of
    /// its parent may be somebody's for ever.
    preparing: PerProcess<Mutex<()>>,
}

impl<S: Scalar> Default for Kept<S> {
    fn default() -> Self {
        let (clock, preparing) = (AtomicU64::new(1), PerProcess::new()); // above what nobody has used
        Kept { ready: Mutex::default(), clock, choices: Mutex::default(), preparing }
    }
}

impl<S: Scalar> Kept<S> {
    /// The product for so many columns, or what `make` makes, which is told what there is.
    pub(crate) fn get_or_make<E>(
        &self,
        k: usize,
        make: impl FnOnce(&[Arc<Ready<S>>]) -> Result<Ready<S>, E>,
    ) -> Result<Arc<Ready<S>>, E> {
        if let Some(ready) = self.get(k) {
            return Ok(ready);
        }
        // A thread of a rayon pool that waits for another pool takes up other work of its own meanwhile, which may ask for this very
        // product: it must not find the door locked by itself. Such threads prepare side by side, and the first one's is kept.
        let alone = rayon::current_thread_index().is_none();
        let preparing = self.preparing.get_or_make(|_| Mutex::new(()));
        let _preparing = alone.then(|| unpoisoned(preparing));
        if let Some(ready) = self.get(k) {
            return Ok(ready);
        }
        let there = unpoisoned(&self.ready).clone();
        let made = make(&there)?;
        drop(there);
        Ok(self.keep(made))
    }

    fn get(&self, k: usize) -> Option<Arc<Ready<S>>> {
        let ready = unpoisoned(&self.ready);
        let found = ready.iter().find(|ready| ready.k == k)?;
        self.touch(found);
        Some(found.clone())
    }

    fn touch(&self, ready: &Ready<S>) {
        // The one that was used last stays it: counting again would take as long as what is locked here.
        if ready.last_used.load(Ordering::Relaxed) != self.clock.load(Ordering::Relaxed) {
            ready.last_used.store(self.clock.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// What was chosen for so many columns before.
    pub(crate) fn choice(&self, k: usize) -> Option<Choice> {
        unpoisoned(&self.choices).get(&k).cloned()
    }

    /// What was chosen, for every number of columns that was asked for.
    pub(crate) fn choices(&self) -> Vec<(usize, Choice)> {
        unpoisoned(&self.choices).iter().map(|(k, choice)| (*k, choice.clone())).collect()
    }

    fn keep(&self, made: Ready<S>) -> Arc<Ready<S>> {
        unpoisoned(&self.choices).insert(made.k, made.choice.clone());
        let mut ready = unpoisoned(&self.ready);
        if let Some(found) = ready.iter().find(|ready| ready.k == made.k) {
            return found.clone(); // somebody was faster
        }
        self.touch(&made);
        let made = Arc::new(made);
        ready.push(made.clone());
        let forgotten = make_room(&mut ready);
        // Not before others can go on: to give back memory of a device may take its lock.
        drop(ready);
        drop(forgotten);
        made
    }

    /// In place of what there is for so many columns.
    pub(crate) fn replace(&self, made: Ready<S>) -> Arc<Ready<S>> {
        let before = taken_out(&mut unpoisoned(&self.ready), |ready| ready.k == made.k);
        drop(before);
        self.keep(made)
    }

    /// Everything, given away.
    pub(crate) fn take(&mut self) -> Vec<Arc<Ready<S>>> {
        std::mem::take(self.ready.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was taken, again.
    pub(crate) fn restore(&mut self, ready: Vec<Arc<Ready<S>>>) {
        *self.ready.get_mut().unwrap_or_else(PoisonError::into_inner) = ready;
    }

    /// Bytes of all forms of A on the host.
    pub(crate) fn bytes(&self) -> u64 {
        forms(&unpoisoned(&self.ready)).iter().map(|(form, _)| form.bytes).sum()
    }
}

/// Every form of A that is a copy, and when it was last used.
fn forms<S: Scalar>(ready: &[Arc<Ready<S>>]) -> Vec<(Arc<Form>, u64)> {
    let mut forms: Vec<(Arc<Form>, u64)> = Vec::new();
    for ready in ready.iter().filter(|ready| ready.form.is_copy) {
        let used = ready.last_used.load(Ordering::Relaxed);
        match forms.iter_mut().find(|(form, _)| Arc::ptr_eq(form, &ready.form)) {
            Some((_, last)) => *last = used.max(*last),
            None => forms.push((ready.form.clone(), used)),
        }
    }
    forms
}

/// Those for which `is_one` holds.
fn taken_out<S: Scalar>(
    ready: &mut Vec<Arc<Ready<S>>>,
    is_one: impl Fn(&Ready<S>) -> bool,
) -> Vec<Arc<Ready<S>>> {
    ready.extract_if(.., |ready| is_one(ready)).collect()
}

/// Hands out what was not used for longest, until there is not too much.
fn make_room<S: Scalar>(ready: &mut Vec<Arc<Ready<S>>>) -> Vec<Arc<Ready<S>>> {
    let mut forgotten = Vec::new();
    let on_device = ready.iter().any(|ready| matches!(ready.product, Shared::OnDevice(_)));
    let most = if on_device { MOST_FORMS_ON_DEVICE } else { MOST_FORMS };
    while let forms = forms(ready)
        && forms.len() > most
        && let Some((oldest, _)) = forms.iter().min_by_key(|(_, used)| *used)
    {
        forgotten.extend(taken_out(ready, |ready| Arc::ptr_eq(&ready.form, oldest)));
    }
    while ready.len() > MOST_PRODUCTS
        && let Some(oldest) =
            (0..ready.len()).min_by_key(|&index| ready[index].last_used.load(Ordering::Relaxed))
    {
        forgotten.push(ready.swap_remove(oldest));
    }
    forgotten
}
